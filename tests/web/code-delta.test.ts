import { expect, it } from "vitest";
import { createDelta } from "../../web/scripts/code-delta.mjs";
import { pack } from "../../web/scripts/pack.mjs";
import { inflate } from "../../web/src/shared/inflate.js";
import { applyDelta } from "../../web/src/worker/apply-delta.js";

/** Bytes that look random, the same ones each time. */
function noise(length: number, seed = 1): Buffer {
  let state = seed;
  return Buffer.from(Array.from({ length }, () => (state = (state * 48271) % 2147483647) >> 8));
}

const roundTrip = (old: Buffer, code: Buffer) =>
  Buffer.from(applyDelta(Uint8Array.from(old), Uint8Array.from(createDelta(old, code))));

const old = noise(5000);
const moved = Buffer.concat([old.subarray(3000), noise(700, 2), old.subarray(0, 3000)]);
const renumbered = Buffer.from(old.map((byte, i) => (i % 5 === 0 ? byte + 37 : byte)));
it.each([
  ["equal code", old],
  ["nothing", Buffer.alloc(0)],
  ["a byte", Buffer.of(7)],
  ["code that has nothing in common", noise(3000, 3)],
  ["code that is moved and added to", moved],
  ["code with other numbers in it", renumbered],
  ["the beginning alone", old.subarray(0, 100)],
  ["code that repeats itself", Buffer.concat([old, old, Buffer.alloc(300), old])],
])("a delta restores %s", (_, code) => {
  expect(roundTrip(old, code).equals(code)).toBe(true);
  expect(roundTrip(Buffer.alloc(0), code).equals(code)).toBe(true);
});

it("a delta is mostly zeros if a fifth of the numbers differ", () => {
  const delta = createDelta(old, renumbered);
  expect(delta.length).toBeLessThan(5100);
  expect(delta.filter((byte) => byte === 0).length).toBeGreaterThan(3900);
});

it.each([0, 1, 2, 3, 4, 5, 1000])("%i packed bytes need no escapes, and are restored", async (length) => {
  const bytes = noise(length);
  const packed = pack(bytes);
  expect(Buffer.from(await inflate(packed)).equals(bytes)).toBe(true);
  expect(JSON.stringify(packed.text)).toHaveLength(packed.text.length + 2);
});
