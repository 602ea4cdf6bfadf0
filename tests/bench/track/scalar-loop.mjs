// The loop that machines are compared by: the inner product of a matmul in its plainest form, one float after the other.
// It is written out in WebAssembly instructions, so that no new compiler makes it faster.

const [i32, f32] = [0x7f, 0x7d];
const [rounds, at, sum] = [0, 1, 2];
/** Of each of the two vectors: together they fit any processor's first cache. */
const vectorBytes = 1 << 13;

/** Multiply-adds of a round. */
export const roundSize = vectorBytes / 4;

/** LEB128, unsigned, and signed for what is not negative. @param {number} value */
const unsigned = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >> 7)]);
/** @param {number} value @returns {number[]} */
const signed = (value) => (value < 64 ? [value] : [(value & 127) | 128, ...signed(value >> 7)]);
/** @param {number} local */
const get = (local) => [0x20, local];
/** @param {number} local */
const set = (local) => [0x21, local];
/** @param {number} local */
const tee = (local) => [0x22, local];
/** @param {number} value */
const constant = (value) => [0x41, ...signed(value)];
/** @param {number} offset */
const loadFloat = (offset) => [0x2a, 2, ...unsigned(offset)];
const [multiply, add] = [0x94, 0x92];
const loop = [0x03, 0x40];
const again = [0x0d, 0]; // br_if: to the beginning of the innermost loop
const end = 0x0b;

const body = [
  ...[2, 1, i32, 1, f32], // locals
  ...loop,
  ...[...constant(0), ...set(at)],
  ...loop,
  ...[
    ...get(sum),
    ...get(at),
    ...loadFloat(0),
    ...get(at),
    ...loadFloat(vectorBytes),
    multiply,
    add,
    ...set(sum),
  ],
  ...[...get(at), ...constant(4), 0x6a, ...tee(at)], // i32.add
  ...[...constant(vectorBytes), 0x49, ...again], // i32.lt_u
  end,
  ...[...get(rounds), ...constant(1), 0x6b, ...tee(rounds), ...again], // i32.sub
  end,
  ...get(sum),
  end,
];

/** @param {number} id @param {number[]} content */
const section = (id, content) => [id, ...unsigned(content.length), ...content];

/**
 * A module that exports `run(rounds)`, which returns the sum of all products, so many times, and the `memory` of both vectors, one after
 * the other. As plain numbers, to be sent into a page.
 */
export const scalarLoop = [
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, [1, 0x60, 1, i32, 1, f32]),
  ...section(3, [1, 0]),
  ...section(5, [1, 0, 1]), // a memory of 64 KiB
  ...section(7, [2, 3, ...Buffer.from("run"), 0, 0, 6, ...Buffer.from("memory"), 2, 0]),
  ...section(10, [1, ...unsigned(body.length), ...body]),
];
