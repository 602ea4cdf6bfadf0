// The weights stream into the engine: several pieces download at once, and it takes them in order.
import { expect, it, vi } from "vitest";
import { loadPieces, loadWhole } from "../../web/src/model/load-weights.js";
import type { Bytes, PieceOptions, PieceSource } from "../../web/src/model/piece-source.js";
import type { Piece } from "../../web/src/model/weights-index.js";
import { Gpt2Error } from "../../web/src/shared/errors.js";

const { signal } = new AbortController();
const piece = (path: string, size: number) => ({ path, size, sha256: path });

/** Takes nothing. */
const noSink = { ready: Promise.resolve(() => {}), onBytes: () => {} };

/** Pieces that arrive when the test sends them, each filled with its own number. */
class ScriptedPieces implements PieceSource {
  readonly underWay: string[] = [];
  readonly buffers = new Set<ArrayBuffer>();
  private readonly tell = new Map<string, { part: (bytes: number) => void; end: (error?: Error) => void }>();

  async read({ path, size }: Piece, room: Promise<Bytes>, { signal, onBytes }: PieceOptions): Promise<void> {
    const into = await room;
    expect(into).toHaveLength(size);
    this.buffers.add(into.buffer);
    this.underWay.push(path);
    let received = 0;
    const part = (bytes: number) => onBytes(((received += bytes), bytes), "network");
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
      const end = (error?: Error) => {
        if (error) return reject(error);
        into.fill(Number(path));
        part(size - received);
        resolve();
      };
      this.tell.set(path, { part, end });
    });
    this.underWay.splice(this.underWay.indexOf(path), 1);
  }
  async part(path: number, bytes: number) {
    await settle();
    this.tell.get(String(path))?.part(bytes);
    await settle();
  }
  async end(path: number, error?: Error) {
    await settle();
    this.tell.get(String(path))?.end(error);
    await settle();
  }
}
const settle = () => new Promise((resolve) => setTimeout(resolve));

function loadScripted(count: number, until = signal) {
  const pieces = new ScriptedPieces();
  const list = Array.from({ length: count }, (_, number) => piece(String(number), 3));
  const taken: number[] = [];
  let begin: (take: (bytes: Uint8Array) => void) => void = () => {};
  const ready = new Promise<(bytes: Uint8Array) => void>((resolve) => (begin = resolve));
  const startEngine = () => begin((bytes) => taken.push(bytes[0] ?? NaN));
  const progress: number[] = [];
  const sink = { ready, onBytes: (loaded: number) => void progress.push(loaded) };
  const loading = loadPieces(pieces, { size: 3 * count, pieces: list, files: [] }, sink, until);
  loading.catch(() => {});
  return { pieces, taken, progress, startEngine, loading };
}

it("loadPieces downloads three pieces at a time, starts them in order, and passes them on in order", async () => {
  const { pieces, taken, progress, startEngine, loading } = loadScripted(6);
  startEngine();
  await settle();
  expect(pieces.underWay).toEqual(["0"]);
  await pieces.part(0, 1);
  expect(pieces.underWay).toEqual(["0", "1"]);
  await pieces.part(1, 2);
  expect(pieces.underWay).toEqual(["0", "1", "2"]);
  await pieces.end(1);
  expect(pieces.underWay).toEqual(["0", "2"]); // the next waits for the memory of the first
  expect(taken).toEqual([]);
  await pieces.end(0);
  expect(taken).toEqual([0, 1]);
  expect(pieces.underWay).toEqual(["2", "3", "4"]);
  for (const path of [4, 3, 2, 5]) await pieces.end(path);
  await loading;
  expect(taken).toEqual([0, 1, 2, 3, 4, 5]);
  expect(progress).toEqual([1, 3, 4, 6, 9, 12, 15, 18]);
});

it("loadPieces never has more than three buffers, however slow a piece or the engine is", async () => {
  const { pieces, taken, startEngine, loading } = loadScripted(20);
  await pieces.part(0, 1); // and no more
  for (let path = 1; path < 20; path += 1) await pieces.end(path);
  expect(pieces.underWay).toEqual(["0"]);
  await pieces.end(0);
  expect(pieces.underWay).toEqual([]); // the engine is not ready
  expect(taken).toEqual([]);
  expect(pieces.buffers.size).toBe(3);
  startEngine();
  for (let path = 3; path < 20; path += 1) {
    await settle();
    await pieces.end(path);
  }
  await loading;
  expect(taken).toEqual(Array.from({ length: 20 }, (_, number) => number));
  expect(pieces.buffers.size).toBe(3);
});

it.each(["fails", "is aborted"])("loadPieces ends all downloads if one of them %s", async (what) => {
  const controller = new AbortController();
  const { pieces, startEngine, loading, taken } = loadScripted(6, controller.signal);
  startEngine();
  await pieces.part(0, 1);
  await pieces.part(1, 1);
  if (what === "fails") await pieces.end(1, new Error("enough"));
  else controller.abort(new Error("enough"));
  await expect(loading).rejects.toThrow("enough");
  expect(taken).toEqual([]);
  await settle();
  expect(pieces.underWay).toHaveLength(3); // no other piece has started since
});

it("loadPieces fails at once if the engine does", async () => {
  const ready = Promise.reject(new Error("no engine"));
  const pieces = new ScriptedPieces();
  const index = { size: 3, pieces: [piece("0", 3)], files: [] };
  await expect(loadPieces(pieces, index, { ready, onBytes: () => {} }, signal)).rejects.toThrow("no engine");
});

it("loadPieces takes more pieces than a call takes arguments", async () => {
  const index = { size: 0, pieces: new Array<Piece>(200_000).fill(piece("a", 0)), files: [] };
  const aborted = AbortSignal.abort(new Error("enough"));
  await expect(loadPieces(new ScriptedPieces(), index, noSink, aborted)).rejects.toThrow("enough");
});

it("loadWhole passes on the engine's error unchanged, and stops reading", async () => {
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Uint8Array.of(1)),
    cancel: () => void (isCancelled = true),
  });
  const refusal = new Gpt2Error("corrupt", "tensor wte.weight overlaps another");
  const take = () => {
    throw refusal;
  };
  const sink = { ready: Promise.resolve(take), onBytes: () => {} };
  const loading = loadWhole({ size: 1, stream }, "f", sink, signal);
  await expect(loading).rejects.toBe(refusal);
  await vi.waitFor(() => expect(isCancelled).toBe(true));
});

const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
it.each([
  ['{"error":"no access"}'],
  ["Entry not found"],
  ["<!doctype html><title>404</title>", /^f is a web page/],
  [pointer, /^f is a Git LFS pointer: run `git lfs pull`/],
])("loadWhole refuses %s, which a host sent in place of weights", async (text, message?: RegExp) => {
  const take = vi.fn();
  const sink = { ready: Promise.resolve(take), onBytes: () => {} };
  const file = { size: undefined, stream: new Blob([text]).stream() };
  await expect(loadWhole(file, "f", sink, signal)).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringMatching(
      message ?? `^f is not a file of weights: it begins with the text "${text}"$`,
    ) as string,
  });
  expect(take).not.toHaveBeenCalled();
});

it("loadWhole reports a stream that breaks as a broken connection", async () => {
  const broken = () =>
    new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("reset")) });
  const reading = loadWhole({ size: 1, stream: broken() }, "f", noSink, signal);
  await expect(reading).rejects.toMatchObject({
    code: "network",
    message: "the connection broke while reading f: reset",
  });
  const aborted = AbortSignal.abort(new Error("enough"));
  const again = loadWhole({ size: 1, stream: broken() }, "f", noSink, aborted);
  await expect(again).rejects.toThrow("enough");
});
