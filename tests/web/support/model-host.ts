// A host of a small model, and the loader's way to read it through the cache.
import { createHash } from "node:crypto";
import { CachedSource } from "../../../web/src/model/store/cached-source.js";
import type { Revalidation } from "../../../web/src/model/store/revalidation.js";
import { bytesOf, type Store } from "../../../web/src/model/store/store.js";
import type { ModelSource, OpenOptions } from "../../../web/src/model/sources/model-source.js";
import { LoadError } from "../../../web/src/shared/errors.js";

export const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
export const bytes = (size: number, seed: number) =>
  Uint8Array.from({ length: size }, (_, i) => (i * 7 + seed) % 251);
const signal = new AbortController().signal;
export const id = "http://host/m/";

/** A host with a model of two pieces, that counts the bytes it gives. */
export class Host implements ModelSource {
  readonly files: Map<string, Uint8Array<ArrayBuffer>>;
  readonly opened: { name: string; from: number; reload: boolean }[] = [];
  given = 0;
  /** The connection breaks after this many bytes of a file. */
  cutAfter = Infinity;
  isDown = false;

  constructor(pieces = [bytes(1000, 1), bytes(700, 2)], config = "{}") {
    const paths = pieces.map((_, number) => `w.00${number}`);
    const index = {
      size: pieces.reduce((sum, { length }) => sum + length, 0),
      pieces: pieces.map((piece, i) => ({ path: paths[i], size: piece.length, sha256: hash(piece) })),
    };
    const text = (value: string) => new TextEncoder().encode(value);
    this.files = new Map([
      ["config.json", text(config)],
      ["vocab.json", text("{}")],
      ["merges.txt", text("m")],
      ["weights.json", text(JSON.stringify(index))],
      ...pieces.map((piece, number) => [paths[number] ?? "", piece] as const),
    ]);
  }

  async open(name: string, { from = 0, reload = false }: OpenOptions) {
    this.opened.push({ name, from, reload });
    if (this.isDown) throw new LoadError("network", `cannot fetch ${name}`);
    const file = this.files.get(name);
    if (!file) throw new LoadError("not-found", `no ${name}`);
    const rest = file.slice(from);
    let at = 0;
    const stream = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (from + at >= this.cutAfter) return controller.error(new LoadError("network", "cut"));
          const end = Math.min(at + Math.max(100, file.length / 100), this.cutAfter - from);
          const chunk = rest.slice(at, end);
          at = end;
          if (chunk.length === 0) return controller.close();
          this.given += chunk.length;
          controller.enqueue(chunk);
        },
      },
      { highWaterMark: 0 },
    );
    return { size: file.length, stream };
  }

  /** Names of the pieces that were asked for. */
  get asked(): string[] {
    return this.opened.filter(({ name }) => name.startsWith("w.")).map(({ name }) => name);
  }
}

/** Compares `weights.json` with the one that `host` has now. */
export const revalidationBy = (host: Host, patienceMs = 1000): Revalidation => ({
  patienceMs,
  hasChanged: async ({ files }) => {
    if (host.isDown) throw new LoadError("network", "down");
    const known = files.find(({ path }) => path === "weights.json")?.sha256;
    return known !== hash(host.files.get("weights.json") ?? bytes(0, 0));
  },
});

export const small = ["config.json", "vocab.json", "merges.txt", "generation_config.json", "weights.json"];

export interface LoadOptions {
  of?: string;
  revalidation?: Revalidation | undefined;
}

/** Reads a model as the loader does. Returns the read bytes by name. */
export async function loadFrom(
  store: Store,
  host: Host,
  { of = id, revalidation = revalidationBy(host) }: LoadOptions = {},
) {
  const source = new CachedSource(store, host, of, revalidation);
  const read = new Map<string, Uint8Array>();
  await Promise.all(
    small.map(async (name) => {
      const opening = source.open(name, { signal }).catch((error: LoadError) => {
        if (error.code !== "not-found") throw error;
      });
      const file = await opening;
      if (file) read.set(name, await bytesOf(file.stream));
    }),
  );
  const index = JSON.parse(new TextDecoder().decode(read.get("weights.json"))) as {
    pieces: { path: string; sha256: string }[];
  };
  const origins: string[] = [];
  for (const { path, sha256 } of index.pieces) {
    for (const reload of [false, true]) {
      const file = await source.open(path, { signal, reload });
      const found = await bytesOf(file.stream).catch((error: unknown) => {
        if (reload || (error as LoadError).code !== "corrupt") throw error;
      });
      if (!found) continue;
      read.set(path, found);
      origins.push(file.origin ?? "network");
      if (hash(found) === sha256) break;
    }
  }
  const notStored = await source.notStored();
  return { source, read, origins, notStored };
}
