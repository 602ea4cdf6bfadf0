import { createHash } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { loadPieces as loadFrom, loadPlainFile } from "../../web/src/loader/load-weights.js";
import { NetworkPieces } from "../../web/src/loader/piece-source.js";
import { UrlSource, type ModelSource } from "../../web/src/loader/model-source.js";
import { Gpt2Error } from "../../web/src/shared/errors.js";
import { parseWeightsIndex, type WeightsIndex } from "../../web/src/loader/weights-index.js";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const noSignal = new AbortController().signal;
type LoadFrom = Parameters<typeof loadFrom>;
const loadPieces = (source: ModelSource, index: WeightsIndex, sink: LoadFrom[2], signal: AbortSignal) =>
  loadFrom(new NetworkPieces(source, async (bytes) => sha256(bytes)), index, sink, signal);

/** Files in memory, given in chunks of three bytes. */
function memorySource(files: Record<string, Uint8Array>): ModelSource {
  return {
    async open(name) {
      const bytes = files[name];
      if (!bytes) throw new Error(`no ${name}`);
      let at = 0;
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at >= bytes.length) return controller.close();
          controller.enqueue(bytes.slice(at, at + 3));
          at += 3;
        },
      });
      return { size: bytes.length, stream };
    },
  };
}

function twoPieces(): { files: Record<string, Uint8Array>; index: WeightsIndex } {
  const files = { a: Uint8Array.from([1, 2, 3, 4, 5, 6, 7]), b: Uint8Array.from([8, 9]) };
  const pieces = Object.entries(files).map(([path, bytes]) => ({
    path,
    size: bytes.length,
    sha256: sha256(bytes),
  }));
  return { files, index: { size: 9, pieces, files: [] } };
}

function collect() {
  const taken: number[] = [];
  const progress: number[] = [];
  const sink = {
    ready: Promise.resolve((bytes: Uint8Array) => void taken.push(...bytes)),
    onBytes: (loaded: number) => void progress.push(loaded),
  };
  return { taken, progress, sink };
}

describe("loadPieces", () => {
  it("loadPieces passes on all bytes in order and reports them", async () => {
    const { files, index } = twoPieces();
    const { taken, progress, sink } = collect();
    await loadPieces(memorySource(files), index, sink, noSignal);
    expect(taken).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(progress.at(-1)).toBe(9);
    expect(progress).toHaveLength(4);
  });

  it.each(["a", "b"])("loadPieces passes on nothing of a piece with a wrong hash: %s", async (name) => {
    const { files, index } = twoPieces();
    files[name]?.fill(99, 1, 2);
    const { taken, sink } = collect();
    await expect(loadPieces(memorySource(files), index, sink, noSignal)).rejects.toThrow(
      `${name} has SHA-256`,
    );
    expect(taken).not.toContain(99);
  });

  it("loadPieces names a piece that is too short or too long", async () => {
    for (const [bytes, sentence] of [
      [[1, 2], "a is 2 bytes, weights.json says 7"],
      [[1, 2, 3, 4, 5, 6, 7, 8], "a is longer than the 7 bytes"],
    ] as const) {
      const { files, index } = twoPieces();
      files.a = Uint8Array.from(bytes);
      await expect(loadPieces(memorySource(files), index, collect().sink, noSignal)).rejects.toThrow(
        sentence,
      );
    }
  });

  /** The files, of which `name` is damaged until it is requested past the caches. */
  function cachedBadly(name: string, damaged: Uint8Array) {
    const { files, index } = twoPieces();
    const asked: string[] = [];
    const [good, bad] = [memorySource(files), memorySource({ ...files, [name]: damaged })];
    const source: ModelSource = {
      open(wanted, { signal, reload }) {
        asked.push(`${wanted}${reload ? " reload" : ""}`);
        return (reload ? good : bad).open(wanted, { signal });
      },
    };
    return { asked, source, index };
  }

  it.each([
    ["another byte", [1, 2, 99, 4, 5, 6, 7]],
    ["too little", [1, 2]],
    ["too much", [1, 2, 3, 4, 5, 6, 7, 8]],
  ])("loadPieces fetches a piece past the caches if they hold %s of it", async (_, damaged) => {
    const { asked, source, index } = cachedBadly("a", Uint8Array.from(damaged));
    const { taken, progress, sink } = collect();
    await loadPieces(source, index, sink, noSignal);
    expect(asked.filter((name) => name.startsWith("a"))).toEqual(["a", "a reload"]);
    expect(taken).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(Math.max(...progress)).toBe(9);
    expect(progress.at(-1)).toBe(9);
  });

  it("loadPieces retries a damaged piece only once", async () => {
    const { files, index } = twoPieces();
    files.b = Uint8Array.from([8, 99]);
    const asked: string[] = [];
    const memory = memorySource(files);
    const source: ModelSource = {
      open: (name, options) => (asked.push(name), memory.open(name, options)),
    };
    await expect(loadPieces(source, index, collect().sink, noSignal)).rejects.toMatchObject({
      code: "corrupt",
      message: expect.stringMatching(/^b has SHA-256 [0-9a-f]{64}, weights\.json says [0-9a-f]{64}$/),
    });
    expect(asked.filter((name) => name === "b")).toHaveLength(2);
  });

  it("loadPieces takes more pieces than a call takes arguments", async () => {
    const piece = { path: "a", size: 0, sha256: sha256(new Uint8Array()) };
    const index = { size: 0, pieces: new Array<typeof piece>(200_000).fill(piece), files: [] };
    const controller = new AbortController();
    controller.abort(new Error("enough"));
    const loading = loadPieces(
      memorySource({ a: new Uint8Array() }),
      index,
      collect().sink,
      controller.signal,
    );
    await expect(loading).rejects.toThrow("enough");
  });

  it("loadPieces stops when it is aborted", async () => {
    const { files, index } = twoPieces();
    const controller = new AbortController();
    const { taken, sink } = collect();
    const aborting = { ...sink, onBytes: () => controller.abort(new Error("enough")) };
    await expect(loadPieces(memorySource(files), index, aborting, controller.signal)).rejects.toThrow(
      "enough",
    );
    expect(taken).toEqual([]);
  });
});

describe("loadPlainFile", () => {
  it("loadPlainFile streams a file without pieces", async () => {
    const { taken, progress, sink } = collect();
    const source = memorySource({ f: Uint8Array.from([1, 2, 3, 4]) });
    await loadPlainFile(await source.open("f", { signal: noSignal }), "f", sink, noSignal);
    expect(taken).toEqual([1, 2, 3, 4]);
    expect(progress).toEqual([3, 4]);
  });

  it("loadPieces passes on the engine's error unchanged, and stops reading", async () => {
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
    const loading = loadPlainFile({ size: 1, stream }, "f", sink, noSignal);
    await expect(loading).rejects.toBe(refusal);
    await vi.waitFor(() => expect(isCancelled).toBe(true));
  });

  it.each([
    '{"error":"no access"}',
    "<!doctype html><title>404</title>",
    "Entry not found",
    "version https://git-lfs",
  ])("loadPlainFile refuses %s, which a host sent in place of weights", async (text) => {
    const take = vi.fn();
    const sink = { ready: Promise.resolve(take), onBytes: () => {} };
    const file = { size: undefined, stream: new Blob([text]).stream() };
    await expect(loadPlainFile(file, "f", sink, noSignal)).rejects.toMatchObject({
      code: "corrupt",
      message: `f is not a file of weights: it begins with the text "${text}"`,
    });
    expect(take).not.toHaveBeenCalled();
  });

  it("loadPieces reports a stream that breaks as a broken connection", async () => {
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("reset")),
    });
    await expect(loadPlainFile({ size: 1, stream }, "f", collect().sink, noSignal)).rejects.toMatchObject({
      code: "network",
      message: "the connection broke while reading f: reset",
    });
    const aborted = AbortSignal.abort(new Error("enough"));
    const again = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("reset")),
    });
    await expect(loadPlainFile({ size: 1, stream: again }, "f", collect().sink, aborted)).rejects.toThrow(
      "enough",
    );
  });
});

describe("UrlSource", () => {
  const answer = (response: Response) => new UrlSource("http://host/m/", async () => response);

  it("UrlSource names the address and the host's answer", async () => {
    await expect(
      answer(new Response("", { status: 404 })).open("x", { signal: noSignal }),
    ).rejects.toMatchObject({
      code: "not-found",
      message: expect.stringContaining("http://host/m/x"),
    });
    await expect(
      answer(new Response("", { status: 503 })).open("x", { signal: noSignal }),
    ).rejects.toMatchObject({
      code: "network",
    });
  });

  it("UrlSource treats a web page as a missing file", async () => {
    const page = new Response("<!doctype html>", { headers: { "content-type": "text/html; charset=utf-8" } });
    await expect(answer(page).open("x", { signal: noSignal })).rejects.toMatchObject({ code: "not-found" });
  });

  it("UrlSource reports a failure before an answer as a network error, except an abort", async () => {
    const source = new UrlSource("http://host/m/", async () => Promise.reject(new TypeError("offline")));
    await expect(source.open("x", { signal: noSignal })).rejects.toMatchObject({
      code: "network",
      message: "cannot fetch http://host/m/x: TypeError: offline",
    });
    await expect(source.open("x", { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
      "enough",
    );
  });

  it("UrlSource treats an answer without a body as an empty file", async () => {
    const { size, stream } = await answer(new Response(null, { status: 204 })).open("x", {
      signal: noSignal,
    });
    expect(size).toBeUndefined();
    expect((await stream.getReader().read()).done).toBe(true);
  });

  it("UrlSource ignores the length of a compressed answer", async () => {
    const headers = { "content-length": "5", "content-encoding": "gzip" };
    expect(
      (await answer(new Response("abc", { headers })).open("x", { signal: noSignal })).size,
    ).toBeUndefined();
    expect(
      (
        await answer(new Response("abc", { headers: { "content-length": "3" } })).open("x", {
          signal: noSignal,
        })
      ).size,
    ).toBe(3);
  });
});

describe("parseWeightsIndex", () => {
  const piece = { path: "model.safetensors.000", size: 4, sha256: "0".repeat(64) };

  it("parseWeightsIndex reads what the tools write", () => {
    const text = JSON.stringify({ file: "model.safetensors", size: 4, sha256: "", pieces: [piece] });
    expect(parseWeightsIndex(text)).toEqual({ size: 4, pieces: [piece] });
  });

  it("parseWeightsIndex refuses nested arrays of any depth", () => {
    const nested = "[".repeat(100_000) + "]".repeat(100_000);
    expect(() => parseWeightsIndex(nested)).toThrow("expected");
  });

  it.each([
    ["{", "not valid JSON"],
    ["[]", "expected"],
    [JSON.stringify({ size: 4, pieces: [{ ...piece, path: "../x" }] }), "piece 0"],
    [JSON.stringify({ size: 4, pieces: [{ ...piece, path: ".." }] }), "piece 0"],
    [JSON.stringify({ size: 4, pieces: [{ ...piece, path: "a\0b" }] }), "piece 0"],
    [JSON.stringify({ size: 4, pieces: [{ ...piece, path: "a\n" }] }), "piece 0"],
    [JSON.stringify({ size: 4, pieces: [{ ...piece, size: -1 }] }), "piece 0"],
    [JSON.stringify({ size: 4, pieces: [{ ...piece, size: 1e12 }] }), "piece 0"],
    [JSON.stringify({ size: 4, pieces: [{ ...piece, sha256: "xyz" }] }), "piece 0"],
    [JSON.stringify({ size: 5, pieces: [piece] }), "4 bytes together, but its size is 5"],
  ])("parseWeightsIndex refuses %s", (text, sentence) => {
    expect(() => parseWeightsIndex(text)).toThrow(sentence);
  });
});
