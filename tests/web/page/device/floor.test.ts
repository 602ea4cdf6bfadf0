// The measurement of a device's floor.
import { expect, it } from "vitest";
import { bytesPerToken, median } from "../../../../web/page/models/floor.js";
import { shareOf } from "../../../../web/page/models/readers.js";
import { sumBytes } from "../../../../web/page/models/sum-bytes.js";

const memory = new WebAssembly.Memory({ initial: 2 });
const words = new Uint32Array(memory.buffer);
const instance = new WebAssembly.Instance(new WebAssembly.Module(sumBytes), { page: { memory } });
const sum = instance.exports["sum"] as (bytes: number, rounds: number) => number;
for (let place = 0; place < words.length; place += 1) words[place] = Math.imul(place, 2654435761);
/** The sum of every fourth word, which one of four lanes computes. */
const plain = (bytes: number, rounds: number) => {
  let total = 0;
  for (let place = 0; place < bytes / 4; place += 4) total = (total + (words[place] ?? 0)) | 0;
  return Math.imul(total, rounds);
};

it.each(["64 1", "128 1", "131072 1", "64 3", "9984 7"])("each byte counts in each round: %s", (row) => {
  const [bytes = 0, rounds = 0] = row.split(" ").map(Number);
  expect(sum(bytes, rounds)).toBe(plain(bytes, rounds));
});

const sizes = { nEmbd: 64, nHead: 2, numKeyValueHeads: 2, nLayer: 3, nInner: 256, nPositions: 128 };

it.each([
  [true, 900_000, 1_000_000 - 4 * 128 * 64],
  [false, 1_000_000, 1_000_000 - 4 * 128 * 64 - 64_000],
])("a token reads no unused row of a table; tied: %s", (tieWordEmbeddings, parameters, bytes) => {
  const config = { ...sizes, vocabSize: 1000, eosTokenId: null, tieWordEmbeddings };
  expect(bytesPerToken({ weightBytes: 1_000_000, parameters, config })).toBe(bytes);
});

it("the bytes of a token are divided among readers in whole steps, within a limit", () => {
  expect(shareOf(13_000_000, 3)).toBe(4_333_312);
  expect(shareOf(1, 8)).toBe(64);
  expect(shareOf(1.6e9, 4)).toBe(64 * 1024 * 1024);
});

it("the median is the middle value", () => {
  expect(median([5, 1, 100])).toBe(5);
  expect(median([])).toBeNaN();
});
