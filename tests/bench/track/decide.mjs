// What was tracked, and whether what is measured now is slower.

/**
 * A line of what is tracked. `loop`: multiply-adds a second over those of the scalar loop; `floor`: of a decode step, the time in which
 * its bytes can be read over the time that it takes. Both by the name of the measure, "q8 decode 64".
 * @typedef {{ commit: string, date: string, browser: string, processor: string, threads: number, loopMultiplyAdds: number,
 *   loop: Record<string, number>, floor: Record<string, number> }} Line
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
 * The lines that a new one may be compared with: the last ones of the same processor, browser's major version aside.
 * @param {Line[]} lines
 * @param {Pick<Line, "processor" | "threads">} now
 */
export const comparable = (lines, { processor, threads }) =>
  lines.filter((line) => line.processor === processor && line.threads === threads).slice(-remembered);

/**
 * The best of two measurements of the same build in every ratio: whatever else a machine does only makes it slower.
 * @param {Line} a
 * @param {Line} b
 * @returns {Line}
 */
export function bestOf(a, b) {
  /** @param {Record<string, number>} x @param {Record<string, number>} y */
  const each = (x, y) =>
    Object.fromEntries(Object.entries(x).map(([name, value]) => [name, Math.max(value, y[name] ?? value)]));
  return { ...a, loop: each(a.loop, b.loop), floor: each(a.floor, b.floor) };
}

/**
 * What is slower in `now` than in `earlier`, the largest loss first. Decoding waits for memory, which the scalar loop says nothing of:
 * its ratio counts as fallen only if the share of what memory allows has fallen by as much.
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
