// Random numbers that a seed repeats.

/** Draws from `seed`, a whole number, by splitmix32. */
export function makeRandom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  /** A whole number from `least` to `most`. */
  const whole = (least, most) => least + Math.floor(next() * (most - least + 1));
  return {
    whole,
    /** True this often. */
    chance: (share) => next() < share,
    pick: (values) => values[whole(0, values.length - 1)],
    list: (length, make) => Array.from({ length }, make),
  };
}
