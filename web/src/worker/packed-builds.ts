// The engine's builds from memory: packed into the worker's own script, for pages in one file.
import { LoadError } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import { inflate, type Packed } from "../shared/inflate.js";
import type { Variant } from "../shared/types.js";
import { createModule } from "../shared/wasm-module.js";
import { applyDelta } from "./apply-delta.js";
import type { BuildSource, EngineScript } from "./start-engine.js";

/** Created by web/scripts/pack-engine.mjs. */
export interface Pack {
  /** The code of all parts, compressed together. */
  data: Packed;
  parts: readonly PackedBuild[];
}

export interface PackedBuild {
  variant: Variant;
  /** Bytes of the code, or of its difference from the code of `base`, an earlier part. */
  size: number;
  base: Variant | null;
}

async function unpack({ data, parts }: Pack): Promise<Map<Variant, Uint8Array<ArrayBuffer>>> {
  const bytes = await inflate(data);
  const codes = new Map<Variant, Uint8Array<ArrayBuffer>>();
  let place = 0;
  for (const { variant, size, base } of parts) {
    const stored = bytes.slice(place, (place += size));
    const before = base === null ? undefined : codes.get(base);
    codes.set(variant, before ? applyDelta(before, stored) : stored);
  }
  return codes;
}

export class PackedBuilds implements BuildSource {
  private codes: Promise<Map<Variant, Uint8Array<ArrayBuffer>>> | undefined;

  private readonly pack: Pack;
  /** The address of a script that runs a helper thread if its worker has the thread's name. */
  private readonly threadScript: string;

  constructor(pack: Pack, threadScript: string) {
    this.pack = pack;
    this.threadScript = threadScript;
  }

  async importScript(): Promise<EngineScript> {
    return { createModule, threadScript: this.threadScript };
  }

  async compile(variant: Variant): Promise<WebAssembly.Module> {
    const codes = (this.codes ??= unpack(this.pack));
    codes.catch(() => (this.codes = undefined)); // memory may have been short: the next call tries again
    const code = (await codes).get(variant);
    if (!code) throw new LoadError("not-found", `there is no build "${variant}" in this file`);
    try {
      return await WebAssembly.compile(code);
    } catch (error) {
      throw failureOf(error);
    }
  }
}
