import { expect, it } from "vitest";
import { placeOn, withoutOverlap } from "../../../web/src/figures/arcs.js";
import {
  clearestHead,
  mainTargetOf,
  rowOf,
  settledStage,
  topWeights,
} from "../../../web/src/figures/attention-weights.js";
import { bandOfWeight, isQueryToken, weightOf } from "../../../web/page/document/attention.js";
import { Scored } from "../../../web/page/document/scored.js";

it.each([
  [[1], "self", 0],
  [[0.6, 0.4], "first", 0],
  [[0.1, 0.7, 0.2], "before", 1],
  [[0.1, 0.2, 0.7], "self", 2],
  [[0.1, 0.5, 0.1, 0.3], "elsewhere", 1],
  [[0.5, 0.5], "self", 1], // the nearer of two equal ones
] as const)("the main target of %j is %s", (weights, glance, index) => {
  expect(mainTargetOf(weights)).toEqual({ glance, index, share: weights[index] });
});

it("the clearest head looks most at one token, but neither at the first nor at itself", () => {
  const layers = [Float32Array.of(1, 0, 0, 0.2, 0.7, 0.1), Float32Array.of(0, 0, 1, 0.1, 0.8, 0.1)];
  expect(clearestHead(layers, 3)).toEqual({ layer: 1, head: 1 });
  expect(clearestHead([Float32Array.of(1, 1)], 1)).toEqual({ layer: 0, head: 0 });
});

it("topWeights lists the largest first, and none below the smallest", () => {
  const found = topWeights([0.05, 0.3, 0.3, 0.005, 0.345], 3, 0.01);
  expect(found.map(({ index }) => index)).toEqual([4, 2, 1]);
  expect(topWeights([0.05, 0.95], 5, 0.1)).toEqual([{ index: 1, share: 0.95 }]);
});

it("the attention of a head is a row of the layer's attention", () => {
  expect([...rowOf(Float32Array.of(0, 1, 2, 3, 4, 5), 1, 3)]).toEqual([3, 4, 5]);
});

it("the attention of a head tints the tokens that it can see; a token of several ids gets their sum", () => {
  const attended = { first: 10, weights: Float32Array.of(0.5, 0.125, 0.25, 0.125) };
  const at = (index: number, count: number) => new Scored(Array(count).fill(7), null, null, index);
  const single = [9, 10, 11, 14].map((index) => weightOf(attended, at(index, 1)));
  expect(single).toEqual([undefined, 0.5, 0.125, undefined]);
  expect(weightOf(attended, at(11, 2))).toBe(0.375);
  const isQuery = [at(12, 1), at(12, 2), at(13, 1)].map((each) => isQueryToken(attended, each));
  expect(isQuery).toEqual([false, true, true]);
  expect([1, 0.5, 0.2, 0.05, 0.01, 0.001, 0].map(bandOfWeight)).toEqual([0, 0, 1, 2, 3, 4, 4]);
});

const guesses = (...ids: number[]) => ids.map((id) => [{ id }, { id: 99 }]);
it.each([
  [[3, 2, 3], 2],
  [[3, 3, 3], 0],
  [[1, 2], 1],
])("the guesses %j settle at stage %i", (ids, stage) => {
  expect(settledStage(guesses(...ids))).toBe(stage);
});

it("a few tokens are evenly spaced, and the last ones among many are spread", () => {
  const few = placeOn(128, 11);
  expect([few(0), few(5), few(10)]).toEqual([14, 64, 114]);
  const many = placeOn(1028, 1001);
  expect([many(0), many(1000)]).toEqual([14, 1014]);
  expect(many(1000) - many(999)).toBeGreaterThan(25);
  expect(placeOn(128, 1)(0)).toBe(114);
});

it("names are drawn where there is room, the first ones first", () => {
  const label = (x: number) => ({ x, width: 20 });
  const drawn = withoutOverlap([50, 60, 70, 31, 30].map(label));
  expect(drawn.map(({ x }) => x)).toEqual([50, 70, 30]);
});
