// What was tracked, and whether what is measured now is slower.

/**
 * A tracked line. `simd` is the model's `info.simd`, in which processors of one name may differ. `loop` has multiply-adds
 * a second relative to those of the scalar loop. `floor` is, for a decode step, the time in which its bytes can be read
 * relative to the time that it takes. Both are by the name of the measure, "q8 decode 64".
 * @typedef {{ commit: string, date: string, browser: string, processor: string, threads: number, simd: string,
 *   loopMultiplyAdds: number, loop: Record<string, number>, floor: Record<string, number> }} Line
 */

/** A ratio that fell by more than this is a regression. */
export const tolerance = 0.05;
/** So many of the last lines count: their median, since each has some noise of its own. */
const remembered = 3;

/** @param {string} text JSON lines @returns {Line[]} */
export function readLines(text) {
  return text
    .split("\n")
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== "")
    .map(({ line, number }) => {
      try {
        return JSON.parse(line);
      } catch (error) {
        throw new Error(`line ${number} is no JSON: ${/** @type {Error} */ (error).message}`, {
          cause: error,
        });
      }
    });
}

/** @param {number[]} values */
const median = (values) => {
  const [low = NaN, high = NaN] = [(values.length - 1) >> 1, values.length >> 1].map(
    (index) => values.toSorted((a, b) => a - b)[index],
  );
  return (low + high) / 2;
};

/**
 * Whether ratios of two lines compare: of the same processor and kernels, with as many threads.
 * @typedef {Pick<Line, "processor" | "threads" | "simd">} Machine
 * @param {Machine} a
 * @param {Machine} b
 */
export const areComparable = (a, b) =>
  a.processor === b.processor && a.threads === b.threads && a.simd === b.simd;

/**
 * The lines that a new one may be compared with: the last ones.
 * @param {Line[]} lines
 * @param {Machine} now
 */
export const comparable = (lines, now) => lines.filter((line) => areComparable(line, now)).slice(-remembered);

/**
 * The ratios of the best speeds of two measurements of the same build. Other work on the machine makes every speed
 * slower, but a ratio larger if it slows the loop or the floor.
 * @param {Line} a
 * @param {Line} b
 * @returns {Line}
 */
export function bestOf(a, b) {
  const loopMultiplyAdds = Math.max(a.loopMultiplyAdds, b.loopMultiplyAdds);
  /** @param {Line} line @param {string} name */
  const speedOf = ({ loop, loopMultiplyAdds: unit }, name) => (loop[name] ?? NaN) * unit;
  /** @param {string} name */
  const bestSpeed = (name) => Math.max(speedOf(a, name), speedOf(b, name));
  /** @param {string} name */
  const bestFloor = (name) =>
    Math.max(...[a, b].map((line) => speedOf(line, name) / (line.floor[name] ?? NaN)));
  /** @param {Record<string, number>} of @param {(name: string) => number} value */
  const each = (of, value) => Object.fromEntries(Object.keys(of).map((name) => [name, value(name)]));
  return {
    ...a,
    loopMultiplyAdds,
    loop: each(a.loop, (name) => bestSpeed(name) / loopMultiplyAdds),
    floor: each(a.floor, (name) => bestSpeed(name) / bestFloor(name)),
  };
}

/**
 * What is slower in `now` than in `earlier`, the largest loss first. Decoding waits for memory, which the scalar loop
 * does not measure. So its ratio counts as fallen only if the share of what memory allows has fallen by as much.
 * @param {Line} now
 * @param {Line[]} earlier as `comparable` gives them
 * @returns {{ name: string, before: number, now: number, loss: number }[]}
 */
export function regressions(now, earlier) {
  /** @param {"loop" | "floor"} kind @param {string} name */
  const compare = (kind, name) => {
    const values = earlier.flatMap((line) => line[kind][name] ?? []);
    const before = median(values);
    const found = now[kind][name] ?? NaN;
    return { name, before, now: found, loss: 1 - found / before };
  };
  return Object.keys(now.loop)
    .map((name) => compare("loop", name))
    .filter(({ name, loss }) => {
      const isMemorySlower = name in now.floor && !(compare("floor", name).loss > tolerance);
      return loss > tolerance && !isMemorySlower;
    })
    .toSorted((a, b) => b.loss - a.loss);
}
