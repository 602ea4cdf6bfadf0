// What `npm run bench:track` and `bench:check` make of what was measured.
import { describe, expect, it } from "vitest";
import { bestOf, comparable, readLines, regressions, type Line } from "../bench/track/decide.mjs";
import { svgOf } from "../bench/track/plot.mjs";
import { roundSize, scalarLoop } from "../bench/track/scalar-loop.mjs";

const line = (changes: Partial<Line> = {}): Line => ({
  commit: "abc1234",
  date: "2026-01-02T03:04:05.000Z",
  browser: "Chromium 156",
  processor: "A",
  threads: 2,
  simd: "relaxed",
  loopMultiplyAdds: 1e9,
  loop: { "q8 prefill 512": 100, "q8 decode 64": 40 },
  floor: { "q8 decode 64": 0.8 },
  ...changes,
});
const loop = (prefill: number, decode: number) => ({ "q8 prefill 512": prefill, "q8 decode 64": decode });

describe("a regression", () => {
  it("a regression is a ratio that fell by more than 5 % beside the scalar loop, the largest loss first", () => {
    const now = line({ loop: loop(94, 30), floor: { "q8 decode 64": 0.6 } });
    expect(regressions(now, [line()])).toEqual([
      { name: "q8 decode 64", before: 40, now: 30, loss: 0.25 },
      { name: "q8 prefill 512", before: 100, now: 94, loss: expect.closeTo(0.06, 10) },
    ]);
    expect(regressions(line({ loop: loop(95.5, 38.5) }), [line()])).toEqual([]);
    expect(regressions(line({ loop: loop(200, 80) }), [line()])).toEqual([]);
  });

  it("slower decoding is no regression if memory is slower by as much", () => {
    const slow = (share: number) => line({ loop: loop(100, 20), floor: { "q8 decode 64": share } });
    expect(regressions(slow(0.79), [line()])).toEqual([]);
    expect(regressions(slow(0.75), [line()]).map(({ name }) => name)).toEqual(["q8 decode 64"]);
  });

  it("a regression is measured against the median of several lines, not against one lucky line", () => {
    const lines = [100, 120, 101].map((prefill) => line({ loop: loop(prefill, 40) }));
    expect(regressions(line({ loop: loop(97, 40) }), lines)).toEqual([]);
    expect(regressions(line({ loop: loop(95, 40) }), lines)).toMatchObject([{ before: 101 }]);
    expect(regressions(line({ loop: loop(97, 40) }), lines.slice(0, 2))).toMatchObject([{ before: 110 }]);
  });

  it("a value that no earlier line has is no regression", () => {
    expect(regressions(line({ loop: { new: 1 } }), [line()])).toEqual([]);
  });
});

describe("lines that compare", () => {
  it("comparable lines are the last three of the same processor, kernels and threads", () => {
    const lines = [1, 2, 3, 4].map((n) => line({ commit: String(n) }));
    const others = [line({ processor: "B" }), line({ threads: 1 }), line({ simd: "relaxed-pairs" })];
    expect(comparable([...lines, ...others], line()).map(({ commit }) => commit)).toEqual(["2", "3", "4"]);
    expect(comparable(others, line())).toEqual([]);
  });

  it("comparable lines keep the best speeds of two measurements, so that a disturbed scalar loop improves no ratio", () => {
    const first = line({ loop: loop(90, 50) });
    expect(bestOf(first, line({ floor: { "q8 decode 64": 0.9 } }))).toEqual(line({ loop: loop(100, 50) }));
    const disturbed = line({ loopMultiplyAdds: 5e8, loop: loop(170, 90) });
    expect(bestOf(first, disturbed)).toEqual(first);
  });

  it("comparable lines are read from a file, and one that is damaged is named", () => {
    const text = `${JSON.stringify(line())}\n\n${JSON.stringify(line({ commit: "2" }))}\n`;
    expect(readLines(text)).toEqual([line(), line({ commit: "2" })]);
    expect(readLines("")).toEqual([]);
    expect(() => readLines(`${text}{"commit":`)).toThrow(/^line 4 is no JSON: /);
  });
});

describe("the picture", () => {
  it("the picture of the figures has each ratio under its name, with its last value", () => {
    const svg = svgOf([line({ commit: "first" }), line({ commit: "<last>", loop: loop(123.4, 50) })]);
    expect(svg).toMatch(/^<svg [^>]*viewBox="0 0 832 300"/);
    for (const text of ["q8 prefill 512: 123.4 ×", "q8 decode 64: 50 ×", "q8 decode 64: 80 %"])
      expect(svg).toContain(`>${text}</text>`);
    expect(svg).toContain("first (2026-01-02) to &#60;last&#62; (2026-01-02), 2 measurements");
    expect(svg).toContain("prefers-color-scheme: dark");
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    expect(svg.match(/class="series"/g)?.length).toBe(3);
  });

  it("the picture of the figures draws no line from one processor to another, and a single measurement as points", () => {
    const paths = (svg: string) => [...svg.matchAll(/class="series".* d="([^"]*)"/g)].map(([, d = ""]) => d);
    for (const d of paths(svgOf([line(), line(), line({ processor: "B" })])))
      expect(d).toMatch(/^M[\d. ]+L[\d. ]+M[\d. ]+$/);
    for (const d of paths(svgOf([line()]))) expect(d).toMatch(/^M[\d. ]+$/);
  });

  it("the picture of the figures writes no name over another, nor below the axis", () => {
    const many = Object.fromEntries(
      ["a", "b", "c", "d", "e", "f"].map((name, i) => [`q8 ${name}`, i / 1000]),
    );
    const svg = svgOf([line({ loop: { ...many, "q8 large": 100 }, floor: {} })]);
    const places = [...svg.matchAll(/y="([\d.]+)">q8 [a-f]:/g)].map(([, y]) => Number(y));
    expect(places.length).toBe(6);
    places.sort((a, b) => a - b).forEach((y, i) => expect(y - (places[i - 1] ?? -100)).toBeGreaterThan(12.5));
    expect(places.at(-1)).toBeLessThanOrEqual(300 - 36 + 4);
  });
});

it("the scalar loop adds up all products, so many times", async () => {
  const { instance } = await WebAssembly.instantiate(Uint8Array.from(scalarLoop));
  const { run, memory } = instance.exports as { run: (rounds: number) => number; memory: WebAssembly.Memory };
  const vectors = new Float32Array(memory.buffer, 0, 2 * roundSize);
  vectors.fill(1, 0, roundSize);
  vectors.fill(2, roundSize);
  vectors[roundSize - 1] = 3;
  vectors[2 * roundSize - 1] = 5;
  expect(run(1)).toBe(2 * (roundSize - 1) + 15);
  expect(run(3)).toBe(3 * (2 * (roundSize - 1) + 15));
});
