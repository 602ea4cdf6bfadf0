// Bytes that arrive while a piece is verified, and pieces of a wrong length.
import { afterEach, describe, expect, it, vi } from "vitest";
import { loadPieces } from "../../web/src/loader/load-weights.js";
import {
  NetworkPieces,
  type Bytes,
  type PieceOptions,
  type PieceSource,
} from "../../web/src/loader/piece-source.js";
import { ChangedFileError } from "../../web/src/loader/steady-fetch.js";
import type { Piece } from "../../web/src/loader/weights-index.js";
import { UrlSource, type ModelSource } from "../../web/src/loader/model-source.js";

const noSignal = new AbortController().signal;
const source = (files: Record<string, number[]>): ModelSource => ({
  async open(name) {
    const bytes = Uint8Array.from(files[name] ?? []);
    return { size: bytes.length, stream: new Blob([bytes]).stream() };
  },
});
const piece = (path: string, size: number) => ({ path, size, sha256: path });

describe("NetworkPieces", () => {
  it.each([
    [[1, 2], "a is 2 bytes, weights.json says 3"],
    [[1, 2, 3, 4], "a is longer than the 3 bytes that weights.json says"],
    [[1, 2, 4], "a has SHA-256 other, weights.json says a"],
  ])("NetworkPieces refuses %j for a piece of three bytes as corrupt", async (bytes, message) => {
    let counted = 0;
    const pieces = new NetworkPieces(source({ a: bytes }), async () => "other");
    const onBytes = (count: number) => (counted += count);
    const reading = pieces.read(piece("a", 3), Promise.resolve(new Uint8Array(3)), {
      signal: noSignal,
      onBytes,
    });
    await expect(reading).rejects.toMatchObject({ name: "LoadError", code: "corrupt", message });
    expect(counted).toBe(0); // all of it was discarded
  });

  const text = (value: string) => [...new TextEncoder().encode(value)];
  it.each([
    [
      "JSON",
      text('{"error":"x"}'),
      20,
      `a is 13 bytes, weights.json says 20: it begins with the text "{"error":"x"}"`,
    ],
    [
      "lines",
      text(" no\n  entry é"),
      99,
      `a is 14 bytes, weights.json says 99: it begins with the text "no entry é"`,
    ],
    [
      "much text",
      text("é".repeat(50)),
      9,
      `a is longer than the 9 bytes that weights.json says: it begins with the text "${"é".repeat(32)}"`,
    ],
    ["nothing", [], 20, "a is 0 bytes, weights.json says 20"],
    ["space", text(" \n"), 20, "a is 2 bytes, weights.json says 20"],
    ["no UTF-8", [0x61, 0xff], 20, "a is 2 bytes, weights.json says 20"],
    ["other bytes", [0x61, 0x01], 20, "a is 2 bytes, weights.json says 20"],
  ])("NetworkPieces quotes an unexpected answer if it is text: %s", async (_, bytes, size, message) => {
    const pieces = new NetworkPieces(source({ a: bytes }), async () => "other");
    const reading = pieces.read(piece("a", size), Promise.resolve(new Uint8Array(size)), {
      signal: noSignal,
      onBytes: () => {},
    });
    await expect(reading).rejects.toMatchObject({ code: "corrupt", message });
  });

  it.each([3, 4])(
    "after %i answers from another version, NetworkPieces fetches the whole piece again, at most three times",
    async (times) => {
      const asked: boolean[] = [];
      const changing: ModelSource = {
        async open(_, { reload = false }) {
          asked.push(reload);
          const stream = new ReadableStream<Uint8Array>({
            start(controller) {
              controller.enqueue(Uint8Array.of(asked.length));
              if (asked.length <= times) controller.error(new ChangedFileError("http://host/a"));
              else controller.close();
            },
          });
          return { size: 1, stream };
        },
      };
      const pieces = new NetworkPieces(changing, async () => "a");
      const room = new Uint8Array(1);
      const reading = pieces.read(piece("a", 1), Promise.resolve(room), {
        signal: noSignal,
        onBytes: () => {},
      });
      if (times > 3) await expect(reading).rejects.toThrow("http://host/a changed while it was read");
      else await reading;
      expect(asked).toEqual([false, true, true, true]);
      expect([...room]).toEqual(times > 3 ? [0] : [4]);
    },
  );
});

it("pieces are hashed one after another, also after a failure", async () => {
  const events: string[] = [];
  const hash = async ([number = 0]: Bytes) => {
    events.push(`begins ${number}`);
    await settle();
    events.push(`ends ${number}`);
    if (number === 1) throw new Error("no hash");
    return String(number);
  };
  const pieces = new NetworkPieces(source({ 1: [1], 2: [2] }), hash);
  const options = { signal: noSignal, onBytes: () => {} };
  const reading = ["1", "2"].map((path) =>
    pieces.read(piece(path, 1), Promise.resolve(new Uint8Array(1)), options),
  );
  expect((await Promise.allSettled(reading)).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(events).toEqual(["begins 1", "ends 1", "begins 2", "ends 2"]);
});

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

function loadScripted(count: number, signal = noSignal) {
  const pieces = new ScriptedPieces();
  const list = Array.from({ length: count }, (_, number) => piece(String(number), 3));
  const taken: number[] = [];
  let begin: (take: (bytes: Uint8Array) => void) => void = () => {};
  const ready = new Promise<(bytes: Uint8Array) => void>((resolve) => (begin = resolve));
  const startEngine = () => begin((bytes) => taken.push(bytes[0] ?? NaN));
  const loading = loadPieces(
    pieces,
    { size: 3 * count, pieces: list, files: [] },
    { ready, onBytes: () => {} },
    signal,
  );
  loading.catch(() => {});
  return { pieces, taken, startEngine, loading };
}

describe("loadPieces", () => {
  it("loadPieces downloads three pieces at a time, starts them in order, and passes them on in order", async () => {
    const { pieces, taken, startEngine, loading } = loadScripted(6);
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
    await expect(loadPieces(pieces, index, { ready, onBytes: () => {} }, noSignal)).rejects.toThrow(
      "no engine",
    );
  });
});

describe("UrlSource", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("UrlSource uses the browser's own fetch, and can be aborted", async () => {
    const { signal } = new AbortController();
    const fetched = vi.fn(async () => new Response("abc"));
    vi.stubGlobal("fetch", fetched);
    await new UrlSource("http://host/m/").open("x", { signal });
    expect(fetched).toHaveBeenCalledWith("http://host/m/x", { signal });
  });

  it("UrlSource requests the rest of a file", async () => {
    const asked: (string | null)[] = [];
    const ask = async (_: unknown, init?: RequestInit) => {
      asked.push(new Headers(init?.headers).get("range"));
      return new Response("bc", { status: 206, headers: { "content-length": "2" } });
    };
    const { size, stream } = await new UrlSource("http://host/", ask).open("x", {
      signal: noSignal,
      from: 1,
    });
    expect(asked).toEqual(["bytes=1-"]);
    expect(size).toBeUndefined();
    expect(await new Response(stream).text()).toBe("bc");
  });

  it("UrlSource reports a web page in place of the file", async () => {
    const page = new Response("", { headers: { "content-type": "text/html" } });
    await expect(
      new UrlSource("http://host/", async () => page).open("x", { signal: noSignal }),
    ).rejects.toThrow("cannot fetch http://host/x: the host answered with a web page");
  });
});
