// Data larger than any model needs is refused before it takes memory. The error states the size.
import { createHash } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { CachedSource } from "../../web/src/model/store/cached-source.js";
import { OpfsStore } from "../../web/src/model/store/opfs-store.js";
import { keyOf, readRecords, type ModelRecord } from "../../web/src/model/store/records.js";
import { mostListed, mostRecordBytes } from "../../web/src/model/limits.js";
import type { ModelSource, OpenFile } from "../../web/src/model/sources/model-source.js";
import { readText } from "../../web/src/model/sources/read-text.js";
import { newDisk, put } from "./support/stored-models.js";

const { signal } = new AbortController();
const mebibyte = 1024 * 1024;
let store: OpfsStore;
beforeEach(async () => {
  newDisk();
  store = await OpfsStore.open();
});

/** A file that never ends, with the bytes that it sent and whether it was cancelled. */
function endless(size?: number) {
  const state = { sent: 0, isCancelled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        state.sent += mebibyte;
        controller.enqueue(new Uint8Array(mebibyte));
      },
      cancel: () => void (state.isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  return { state, file: { size, stream } satisfies OpenFile };
}

const giving = (file: OpenFile): ModelSource => ({ open: async () => file });

it.each([
  ["config.json", 16],
  ["weights.json", 16],
  ["model.safetensors.index.json", 16],
  ["tokenizer.json", 64],
  ["vocab.json", 64],
  ["merges.txt", 64],
])("%s is refused before its first byte if its host states more than %i MiB", async (name, most) => {
  const { state, file } = endless(most * mebibyte + 1);
  await expect(readText(giving(file), name, signal)).rejects.toMatchObject({
    code: "corrupt",
    message: `${name}: found ${most * mebibyte + 1} bytes, expected at most ${most * mebibyte}`,
  });
  expect(state).toEqual({ sent: 0, isCancelled: true });
});

it.each<[string, (file: OpenFile) => ModelSource]>([
  ["directly", giving],
  ["through the cache", (file) => new CachedSource(store, giving(file), "id", undefined)],
])("reading a file %s stops as soon as it is larger than its host said", async (_, sourceOf) => {
  const { state, file } = endless(10);
  await expect(readText(sourceOf(file), "config.json", signal)).rejects.toThrow(
    "config.json: found 17825792 bytes, expected at most 16777216",
  );
  expect(state).toEqual({ sent: 17 * mebibyte, isCancelled: true });
});

it("a file that is read as a whole may have the largest allowed size", async () => {
  const file = { size: 16 * mebibyte, stream: new Blob([new Uint8Array(16 * mebibyte).fill(32)]).stream() };
  expect(await readText(giving(file), "config.json", signal)).toHaveLength(16 * mebibyte);
});

const piece = { path: "f", size: 1, sha256: createHash("sha256").update("f").digest("hex") };
const none = { id: "a", files: [], missing: [], pieces: [] };
const record = (more: Partial<ModelRecord>): ModelRecord => ({ ...none, ...more });
const isRead = async (what: ModelRecord, padding = 0) => {
  await put("models", await keyOf(what), `${JSON.stringify(what)}\n${" ".repeat(padding)}`);
  return (await readRecords(store)).length === 1;
};

it("a record of the cache may list as many pieces as a weights.json, and no more", async () => {
  const pieces = (length: number) => Array.from({ length }, () => piece);
  expect(await isRead(record({ pieces: pieces(mostListed) }))).toBe(true);
  expect(await isRead(record({ pieces: pieces(mostListed + 1) }))).toBe(false);
  expect(await isRead(record({ files: pieces(mostListed + 1) }))).toBe(false);
  expect(await isRead(record({ missing: pieces(mostListed + 1).map(({ path }) => path) }))).toBe(false);
});

it("a record of the cache that is larger than a weights.json may be is not read", async () => {
  expect(await isRead(record({}), 1000)).toBe(true);
  expect(await isRead(record({}), mostRecordBytes)).toBe(false);
});
