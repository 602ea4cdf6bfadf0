// The estimates for a model, compared with measured values.
import { expect, it } from "vitest";
import { memoryOf, releases, roundToTwoDigits, weightBytesOf } from "../../../web/page/models/estimate.js";

const [small, , , xl] = releases;
const within = (value: number, expected: number, share: number) =>
  expect(Math.abs(value / expected - 1), `${value} beside ${expected}`).toBeLessThan(share);

it("the estimates are close to the measured values of GPT-2 124M", () => {
  const q8 = weightBytesOf(small?.parameters ?? 0, "q8");
  within(q8, 142.8e6, 0.05);
  within(memoryOf(q8), 221.4e6, 0.05);
});

it("the estimates count the embedding in 8 bits if the rest has 4", () => {
  for (const { parameters, nEmbd } of releases) {
    const embedding = 50257 * nEmbd;
    const expected = (embedding * 36 + (parameters - embedding) * 18) / 32;
    within(weightBytesOf(parameters, "q4"), expected, 0.001);
    expect(weightBytesOf(parameters, "q4")).toBeLessThan(weightBytesOf(parameters, "q8"));
  }
  expect(weightBytesOf(1_000_000, "q4")).toBeGreaterThan((1_000_000 * 18) / 32); // the embedding counts as at most the whole model
});

it("the estimates fit into WebAssembly's address space, also for the largest model", () => {
  expect(memoryOf(weightBytesOf(xl?.parameters ?? 0, "q8"))).toBeLessThan(2 ** 32);
});

it("the estimates have two digits", () => {
  expect([123.4, 9.87, 0.456].map(roundToTwoDigits)).toEqual([120, 9.9, 0.46]);
});
