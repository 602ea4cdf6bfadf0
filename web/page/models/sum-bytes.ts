// A WebAssembly module that does the minimum with each byte of a memory: it sums them up. It is so small that it is
// written here instruction by instruction.

const i32 = 0x7f;
const v128 = 0x7b;
const [bytes, rounds, at] = [0, 1, 2]; // parameters, and a local of the same type
const sums = [3, 4, 5, 6]; // sums of every fourth vector: four of them hide the latency of the addition

const getLocal = (local: number) => [0x20, local];
const setLocal = (local: number) => [0x21, local];
const teeLocal = (local: number) => [0x22, local];
const constant = (value: number) => [0x41, ...signed(value)];
const loadVector = (offset: number) => [0xfd, 0, 4, offset];
const addVectors = [0xfd, 0xae, 1];
const firstLane = [0xfd, 0x1b, 0];
const loop = [0x03, 0x40];
const again = [0x0d, 0]; // br_if: branch to the start of the innermost loop
const end = 0x0b;

/** LEB128 of a number from 0 to 8191. */
const signed = (value: number) => (value < 64 ? [value] : [(value & 0x7f) | 0x80, value >> 7]);

const body = [
  ...[2, 1, i32, 4, v128], // locals
  ...loop,
  ...constant(0),
  ...setLocal(at),
  ...loop,
  ...sums.flatMap((sum, part) => [
    ...getLocal(sum),
    ...getLocal(at),
    ...loadVector(16 * part),
    ...addVectors,
    ...setLocal(sum),
  ]),
  ...getLocal(at),
  ...constant(64),
  0x6a, // i32.add
  ...teeLocal(at),
  ...getLocal(bytes),
  0x49, // i32.lt_u
  ...again,
  end,
  ...getLocal(rounds),
  ...constant(1),
  0x6b, // i32.sub
  ...teeLocal(rounds),
  ...again,
  end,
  ...sums.flatMap((sum, part) => (part === 0 ? getLocal(sum) : [...getLocal(sum), ...addVectors])),
  ...firstLane,
  end,
];

const section = (id: number, content: readonly number[]) => [id, ...unsigned(content.length), ...content];
const unsigned = (value: number) => (value < 128 ? [value] : [(value & 0x7f) | 0x80, value >> 7]);
const name = (text: string) => [text.length, ...new TextEncoder().encode(text)];

/**
 * Imports the memory `page.memory`, and exports `sum(bytes, rounds)`. It reads the first `bytes` of the memory, a
 * positive multiple of 64, `rounds` times, at least once. It returns the first of four sums of 32-bit words, so that no
 * read can be optimized away.
 */
export const sumBytes: Uint8Array<ArrayBuffer> = Uint8Array.from([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, [1, 0x60, 2, i32, i32, 1, i32]),
  ...section(2, [1, ...name("page"), ...name("memory"), 2, 0, 0]),
  ...section(3, [1, 0]),
  ...section(7, [1, ...name("sum"), 0, 0]),
  ...section(10, [1, ...unsigned(body.length), ...body]),
]);
