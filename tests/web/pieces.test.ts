// What arrives while a piece is checked, and what goes wrong with its length.
import { afterEach, describe, expect, it, vi } from "vitest";
import { loadPieces } from "../../web/src/loader/load-weights.js";
import { UrlSource, type ModelSource } from "../../web/src/loader/model-source.js";

const noSignal = new AbortController().signal;
const source = (files: Record<string, number[]>): ModelSource => ({
  async open(name) {
    const bytes = Uint8Array.from(files[name] ?? []);
    return { size: bytes.length, stream: new Blob([bytes]).stream() };
  },
});
const piece = (path: string, size: number) => ({ path, size, sha256: path });

describe("loadPieces", () => {
  it.each([
    [[1, 2], "a is 2 bytes, weights.json says 3"],
    [[1, 2, 3, 4], "a is longer than the 3 bytes that weights.json says"],
  ])("refuses %j for a piece of three bytes as corrupt", async (bytes, message) => {
    const sink = { take: vi.fn(), hash: async () => "a", onBytes: () => {} };
    const loading = loadPieces(source({ a: bytes }), { size: 3, pieces: [piece("a", 3)] }, sink, noSignal);
    await expect(loading).rejects.toMatchObject({ name: "LoadError", code: "corrupt", message });
    expect(sink.take).not.toHaveBeenCalled();
  });

  it("takes two buffers for all pieces, of which one arrives while the other is checked", async () => {
    const files = { a: [1, 2, 3], b: [4], c: [5, 6], d: [7] };
    const pieces = Object.entries(files).map(([path, bytes]) => piece(path, bytes.length));
    const buffers: ArrayBuffer[] = [];
    const taken: number[][] = [];
    const sink = {
      hash: async (bytes: Uint8Array<ArrayBuffer>) => {
        buffers.push(bytes.buffer);
        // Meanwhile the next piece arrives.
        await new Promise((resolve) => setTimeout(resolve, 20));
        return pieces[buffers.length - 1]?.path ?? "";
      },
      take: (bytes: Uint8Array) => void taken.push([...bytes]),
      onBytes: () => {},
    };
    await loadPieces(source(files), { size: 7, pieces }, sink, noSignal);
    expect(taken).toEqual(Object.values(files));
    expect(new Set(buffers).size).toBe(2);
    expect(buffers.map((buffer) => buffer.byteLength)).toEqual([3, 3, 3, 3]);
    expect(buffers[2]).toBe(buffers[0]);
  });
});

describe("UrlSource", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("asks with the browser's own fetch, and can be aborted", async () => {
    const { signal } = new AbortController();
    const fetched = vi.fn(async () => new Response("abc"));
    vi.stubGlobal("fetch", fetched);
    await new UrlSource("http://host/m/").open("x", { signal });
    expect(fetched).toHaveBeenCalledWith("http://host/m/x", { signal });
  });

  it("says that a web page came instead of the file", async () => {
    const page = new Response("", { headers: { "content-type": "text/html" } });
    await expect(
      new UrlSource("http://host/", async () => page).open("x", { signal: noSignal }),
    ).rejects.toThrow("cannot fetch http://host/x: the host answered with a web page");
  });
});
