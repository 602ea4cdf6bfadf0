// Data larger than any model needs is refused before it takes memory. The error states the size.
import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CachedSource } from "../../web/src/cache/cached-source.js";
import { cached } from "../../web/src/cache/index.js";
import { openStore } from "../../web/src/cache/open-store.js";
import { keyOf, readRecords, type ModelRecord } from "../../web/src/cache/records.js";
import { mostListed, mostRecordBytes } from "../../web/src/loader/limits.js";
import type { ModelSource, OpenFile } from "../../web/src/loader/model-source.js";
import { readText } from "../../web/src/loader/read-text.js";
import type { LoadRequest } from "../../web/src/shared/protocol.js";
import { FakeDisk } from "./support/fake-opfs.js";
import { MemoryStore } from "./support/memory-store.js";
import { Host, id, loadFrom } from "./support/model-host.js";

const { signal } = new AbortController();
const mebibyte = 1024 * 1024;

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

describe("a file that is read as a whole", () => {
  it.each([
    ["config.json", 16],
    ["weights.json", 16],
    ["model.safetensors.index.json", 16],
    ["tokenizer.json", 64],
    ["vocab.json", 64],
    ["merges.txt", 64],
  ])(
    "a file is refused before its first byte if its host says that %s is larger than %i MiB",
    async (name, most) => {
      const { state, file } = endless(most * mebibyte + 1);
      await expect(readText(giving(file), name, signal)).rejects.toMatchObject({
        code: "corrupt",
        message: `${name}: found ${most * mebibyte + 1} bytes, expected at most ${most * mebibyte}`,
      });
      expect(state).toEqual({ sent: 0, isCancelled: true });
    },
  );

  it("reading stops as soon as a file is larger than its host said", async () => {
    const { state, file } = endless(10);
    await expect(readText(giving(file), "config.json", signal)).rejects.toThrow(
      "config.json: found 17825792 bytes, expected at most 16777216",
    );
    expect(state).toEqual({ sent: 17 * mebibyte, isCancelled: true });
  });

  it("a file that is read as a whole may have the largest allowed size", async () => {
    const file = { size: 16 * mebibyte, stream: new Blob([new Uint8Array(16 * mebibyte).fill(32)]).stream() };
    expect(await readText(giving(file), "config.json", signal)).toHaveLength(16 * mebibyte);
  });
});

describe("a small file that is stored", () => {
  const tooLarge = "config.json: found 17825792 bytes, expected at most 16777216";
  afterEach(() => vi.unstubAllGlobals());

  it("reading a file through the cache stops as soon as it is larger than its name allows", async () => {
    const { state, file } = endless();
    const source = new CachedSource(new MemoryStore(), giving(file), id, undefined);
    await expect(readText(source, "config.json", signal)).rejects.toThrow(tooLarge);
    expect(state).toEqual({ sent: 17 * mebibyte, isCancelled: true });
  });

  it("a stored model counts as unchanged if its host sends a config.json that never ends", async () => {
    const disk = new FakeDisk();
    vi.stubGlobal("navigator", disk.navigator);
    const { store } = await openStore(true);
    if (!store) throw new Error("there is no store");
    const host = new Host();
    await loadFrom(store, host);
    host.isDown = true;
    const { state, file } = endless();
    vi.stubGlobal("fetch", async (url: string) =>
      url.endsWith("config.json") ? new Response(file.stream) : new Response(host.files.get("weights.json")),
    );
    const source = await cached(Object.assign(host, { id }), {
      source: { kind: "folder", url: id },
      headers: [],
    } as unknown as LoadRequest);
    expect(await readText(source, "config.json", signal)).toBe("{}");
    await vi.waitFor(() => expect(state).toEqual({ sent: 17 * mebibyte, isCancelled: true }));
  });
});

describe("a record of the cache", () => {
  const piece = { path: "f", size: 1, sha256: createHash("sha256").update("f").digest("hex") };
  const record = (more: Partial<ModelRecord>): ModelRecord => ({
    id: "a",
    files: [],
    missing: [],
    pieces: [],
    ...more,
  });
  const isRead = async (what: ModelRecord, padding = 0) => {
    const store = new MemoryStore();
    store.put("models", await keyOf(what), `${JSON.stringify(what)}\n${" ".repeat(padding)}`);
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
});
