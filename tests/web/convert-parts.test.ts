// The parts of a conversion, without the engine: how portions are passed on, and where an interrupted conversion resumes.
import { expect, it, vi } from "vitest";
import type { Converter } from "../../web/src/model/convert/converter.js";
import { Portions } from "../../web/src/model/convert/portions.js";
import { endOfTensors, feedZeros, restartPlace } from "../../web/src/model/convert/restart.js";
import { headOf, headSize, isWholeHead, tensorsOf } from "../../web/src/model/convert/tensor-head.js";
import { writeSafetensors } from "./support/safetensors.js";

/** The head of a safetensors file whose tensors, of so many bytes each, lie in this order. */
function headWith(sizes: Record<string, number>): Uint8Array {
  const tensorOf = (size: number) => ({ dtype: "I8", shape: [size], bytes: Buffer.alloc(size) });
  const tensors = Object.entries(sizes).map(([name, size]) => [name, tensorOf(size)] as const);
  return headOf(writeSafetensors(new Map(tensors)));
}

const full = 256 * 1024;
const of = (size: number, value: number) => new Uint8Array(size).fill(value);
/** The first byte and the size of each part. */
const seen = (given: Iterable<Uint8Array>) => Array.from(given, (bytes) => [bytes[0], bytes.length]);

it("portions are passed on when full, and the rest at the end", () => {
  const portions = new Portions(0);
  expect(seen(portions.add(of(full - 1, 1)))).toEqual([]);
  expect(seen(portions.add(of(1, 2)))).toEqual([[1, full]]);
  expect(seen(portions.add(of(2 * full + 5, 3)))).toEqual([
    [3, full],
    [3, full],
  ]);
  expect(seen(portions.rest())).toEqual([[3, 5]]);
  expect(seen(portions.rest())).toEqual([]);
});

it("portions start after the stored part", () => {
  const portions = new Portions(5);
  for (const value of [1, 2, 3]) expect(seen(portions.add(of(3, value)))).toEqual([]);
  expect(Array.from(portions.rest(), (bytes) => [...bytes])).toEqual([[2, 3, 3, 3]]);
});

it("the first portion is passed on at once, and later ones after a tenth of a second at the latest", () => {
  vi.useFakeTimers();
  const portions = new Portions(0);
  const late = (size: number) => {
    seen(portions.add(of(size, 1)));
    return seen(portions.late());
  };
  expect(late(7)).toEqual([[1, 7]]);
  vi.advanceTimersByTime(100);
  expect(late(8)).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(late(9)).toEqual([[1, 17]]);
  expect(late(1)).toEqual([]);
});

it("the length of a safetensors header is read as soon as its bytes have arrived, at any address", () => {
  const head = headWith({ a: 4 });
  expect(headSize(head.subarray(0, 7))).toBe(8);
  expect(headSize(head.subarray(0, 8))).toBe(head.length);
  const apart = new Uint8Array(head.length + 3);
  apart.set(head, 3);
  expect(headSize(apart.subarray(3))).toBe(head.length);
});

it("a safetensors header lists its tensors in the order of their bytes, empty ones first", () => {
  const header = JSON.stringify({
    __metadata__: { format: "pt", data_offsets: "99" }, // is not taken for a tensor
    last: { data_offsets: [6, 9] },
    first: { data_offsets: [0, 6] },
    none: { data_offsets: [6, 6] },
  });
  const head = Buffer.concat([Buffer.alloc(8), Buffer.from(header)]);
  head.writeBigUInt64LE(BigInt(header.length));
  expect(tensorsOf(head)).toEqual([
    { name: "first", start: head.length, end: head.length + 6 },
    { name: "none", start: head.length + 6, end: head.length + 6 },
    { name: "last", start: head.length + 6, end: head.length + 9 },
  ]);
  expect(endOfTensors(head)).toBe(head.length + 9);
  const empty = headWith({});
  expect(endOfTensors(empty)).toBe(empty.length);
});

it.each([
  [7, 0, false],
  [8, 0, true],
  [10, 3, false],
  [11, 3, true],
  [12, 3, true],
])("%i bytes of a file with a header of %i bytes contain no tensor: %s", (size, header, isWhole) => {
  const bytes = new Uint8Array(size + 5);
  bytes[5] = header; // the first of eight, lowest first
  expect(isWholeHead(bytes.subarray(5))).toBe(isWhole);
});

const hub = headWith({ "transformer.a": 40, mask: 1, "transformer.b": 20, c: 8 });
const output = headWith({ a: 10, b: 5, c: 2 });
const at = (offset: number) => ({ file: 0, at: hub.length + offset });

it.each([
  [-1, at(0)],
  [9, at(0)],
  [10, at(41)], // after a tensor that no engine reads
  [17, at(61)],
])("a conversion resumes at the last tensor that begins at most %i bytes after the header", (from, place) => {
  expect(restartPlace([hub], output, output.length + from)).toEqual(place);
  const incomplete = output.subarray(0, -1);
  expect(restartPlace([hub], incomplete, output.length + from)).toEqual(at(0));
});

const portion = 4 * 1024 * 1024;
/** Gives a byte for each thousand that it is fed, in two parts. */
function counting() {
  const fed: number[] = [];
  const feed = (bytes: Uint8Array) => {
    expect(bytes.every((byte) => byte === 0)).toBe(true);
    fed.push(bytes.length);
    return [new Uint8Array(Math.floor(bytes.length / 2000)), new Uint8Array(Math.ceil(bytes.length / 2000))];
  };
  return { fed, converter: { feed } as unknown as Converter };
}

it("an abort is handled between two portions of zeros", async () => {
  const { fed, converter } = counting();
  const controller = new AbortController();
  const feeding = feedZeros(converter, 3 * portion, controller.signal);
  setTimeout(() => controller.abort(new Error("enough")));
  await expect(feeding).rejects.toThrow("enough");
  expect(fed.length).toBeLessThan(3);
});
