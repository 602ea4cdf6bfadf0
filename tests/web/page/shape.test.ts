// The picture of the settings against the sampler: the same numbers as tests/generate/sampler_test.cc.
import { expect, it } from "vitest";
import { shape, type Sampling } from "../../../web/page/parts/options/shape.js";
import { numberOptionNames, numberOptions } from "../../../web/src/shared/generate-options.js";

const top = [0.5, 0.25, 0.15, 0.1].map((share, id) => ({ id, text: "", logprob: Math.log(share) }));
const initials = numberOptionNames.map((name) => [name, numberOptions[name].initial] as const);
const plain = { ...(Object.fromEntries(initials) as Sampling), temperature: 1, topK: 0, topP: 1 };
const shares = (set: Partial<Sampling>) => shape(top, { ...plain, ...set });
const staying = (set: Partial<Sampling>) => shares(set).filter((share) => share > 0).length;

it("at temperature 0 only the most probable token remains", () => {
  expect(shares({ temperature: 0 })).toEqual([1, 0, 0, 0]);
});

it("the temperature changes the shares, and what remains has all of them", () => {
  expect(shares({ topK: 2 })).toEqual([expect.closeTo(2 / 3), expect.closeTo(1 / 3), 0, 0]);
  const expected = [0.725, 0.181, 0.065, 0.029];
  for (const [place, share] of shares({ temperature: 0.5 }).entries())
    expect(share).toBeCloseTo(expected[place] ?? 0, 3);
});

it.each<[string, Partial<Sampling>, number]>([
  ["top k keeps the k most probable tokens", { topK: 2 }, 2],
  ["top k may be larger than their number", { topK: 9 }, 4],
  ["top p keeps the fewest tokens that reach it", { topP: 0.7 }, 2],
  ["top p keeps those that reach more", { topP: 0.8 }, 3],
  ["top p keeps one token at least", { topP: 0 }, 1],
  ["top p counts within top k", { topK: 3, topP: 0.82 }, 2],
  ["min p keeps the tokens with a share of the best one's probability", { minP: 0.29 }, 3],
  ["the temperature is applied before top p", { temperature: 0.5, topP: 0.7 }, 1],
  ["the temperature is applied before min p", { temperature: 0.5, minP: 0.2 }, 2],
])("%s", (_, set, count) => {
  expect(staying(set)).toBe(count);
});

it("typical p keeps the tokens about as surprising as expected, within the other filters", () => {
  expect(staying({ typicalP: 0.2 })).toBe(1);
  expect(shares({ topK: 2, typicalP: 0.5 })).toEqual([1, 0, 0, 0]);
  const half = [0.3, ...Array<number>(20).fill(0.035)];
  const flat = half.map((share, id) => ({ id, text: "", logprob: Math.log(share) }));
  const [first, ...others] = shape(flat, { ...plain, typicalP: 0.5 });
  expect(first).toBe(0);
  for (const share of others) expect(share).toBeCloseTo(0.05, 9);
});

it("an empty list of tokens stays empty", () => {
  expect(shape([], plain)).toEqual([]);
});
