// The pieces of a model's folder: damaged ones, ones of a wrong length, and ones that change while they are read.
import { expect, it } from "vitest";
import type { ModelSource } from "../../web/src/model/sources/model-source.js";
import { NetworkPieces, type Bytes } from "../../web/src/model/piece-source.js";
import { ChangedFileError } from "../../web/src/model/sources/steady-fetch.js";
import { MemorySource } from "./support/memory-source.js";

const { signal } = new AbortController();
/** In place of a hash: the bytes themselves. */
const hash = async (bytes: Bytes) => bytes.join();

/** Reads a piece of `size` bytes with the hash `sha256`. */
async function read(source: ModelSource, size: number, sha256: string) {
  const room = new Uint8Array(size);
  let counted = 0;
  const onBytes = (count: number) => void (counted += count);
  const piece = { path: "a", size, sha256 };
  const reading = new NetworkPieces(source, hash).read(piece, Promise.resolve(room), { signal, onBytes });
  const error = await reading.then(() => undefined).catch((reason: unknown) => reason);
  return { error, counted, bytes: [...room] };
}

const text = (value: string) => [...new TextEncoder().encode(value)];
const begins = "it begins with the text";

it.each([
  ["too few bytes", [1, 2], 3, "a is 2 bytes, weights.json says 3"],
  ["too many bytes", [1, 2, 3, 4], 3, "a is longer than the 3 bytes that weights.json says"],
  ["another byte", [1, 2, 4], 3, "a has SHA-256 1,2,4, weights.json says 1,2,3"],
  ["nothing", [], 20, "a is 0 bytes, weights.json says 20"],
  ["space", text(" \n"), 20, "a is 2 bytes, weights.json says 20"],
  ["no UTF-8", [0x61, 0xff], 20, "a is 2 bytes, weights.json says 20"],
  ["other bytes", [0x61, 0x01], 20, "a is 2 bytes, weights.json says 20"],
  ["a page", text("<html>"), 20, "a is a web page: its host answers so, or it was saved so"],
  ["JSON", text('{"a":0}'), 20, `a is 7 bytes, weights.json says 20: ${begins} "{"a":0}"`],
  ["lines", text(" no\n  entry é"), 99, `a is 14 bytes, weights.json says 99: ${begins} "no entry é"`],
  [
    "much text",
    text("é".repeat(50)),
    9,
    `a is longer than the 9 bytes that weights.json says: ${begins} "${"é".repeat(32)}"`,
  ],
])("NetworkPieces refuses a piece after a second attempt: %s", async (_, given, size, message) => {
  const source = new MemorySource({ a: Uint8Array.from(given) });
  const { error, counted } = await read(source, size, "1,2,3");
  expect(error).toMatchObject({ name: "LoadError", code: "corrupt", message });
  expect(counted).toBe(0); // all of it was discarded
  expect(source.opened.map(({ reload }) => reload)).toEqual([false, true]);
});

it.each([
  ["another byte", [1, 2, 99]],
  ["too little", [1, 2]],
  ["too much", [1, 2, 3, 4]],
])("NetworkPieces fetches a piece past the caches if they hold %s", async (_, damaged) => {
  const afterReload = { a: Uint8Array.of(1, 2, 3) };
  const source = new MemorySource({ a: Uint8Array.from(damaged) }, { afterReload });
  const found = await read(source, 3, "1,2,3");
  expect(found).toEqual({ error: undefined, counted: 3, bytes: [1, 2, 3] });
  expect(source.opened.map(({ reload }) => reload)).toEqual([false, true]);
});

it.each([3, 4])("a piece that changed %i times is read again, up to three times", async (times) => {
  const asked: boolean[] = [];
  const open: ModelSource["open"] = async (_, { reload = false }) => {
    asked.push(reload);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Uint8Array.of(asked.length));
        if (asked.length <= times) controller.error(new ChangedFileError("http://host/a"));
        else controller.close();
      },
    });
    return { size: 1, stream };
  };
  const { error, bytes } = await read({ open }, 1, "4");
  if (times > 3) expect(String(error)).toContain("http://host/a changed while it was read");
  else expect(error).toBeUndefined();
  expect(asked).toEqual([false, true, true, true]);
  expect(bytes).toEqual(times > 3 ? [0] : [4]);
});

it("pieces are hashed one after another, also after a failure", async () => {
  const events: string[] = [];
  const slow = async ([number = 0]: Bytes) => {
    events.push(`begins ${number}`);
    await new Promise((resolve) => setTimeout(resolve));
    events.push(`ends ${number}`);
    if (number === 1) throw new Error("no hash");
    return String(number);
  };
  const pieces = new NetworkPieces(new MemorySource({ 1: Uint8Array.of(1), 2: Uint8Array.of(2) }), slow);
  const reading = ["1", "2"].map((path) =>
    pieces.read({ path, size: 1, sha256: path }, Promise.resolve(new Uint8Array(1)), {
      signal,
      onBytes: () => {},
    }),
  );
  const ends = await Promise.allSettled(reading);
  expect(ends.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(events).toEqual(["begins 1", "ends 1", "begins 2", "ends 2"]);
});
