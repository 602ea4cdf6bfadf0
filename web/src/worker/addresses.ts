// The addresses of the engine's builds and the worker's own parts, beside its script. Each is written literally, because
// bundlers follow only literals; they copy the files unchanged. Evaluated on demand: a worker from a blob has nothing
// beside it.
import type { Variant } from "../shared/types.js";
import { importAsItIs } from "./import-as-it-is.js";

export interface BuildAddresses {
  script: () => URL;
  code: () => URL;
}

export const addresses: Readonly<Record<Variant, BuildAddresses>> = {
  "threads-relaxed": {
    script: () => new URL("./engine/gpt2-threads-relaxed.js", import.meta.url),
    code: () => new URL("./engine/gpt2-threads-relaxed.wasm", import.meta.url),
  },
  threads: {
    script: () => new URL("./engine/gpt2-threads.js", import.meta.url),
    code: () => new URL("./engine/gpt2-threads.wasm", import.meta.url),
  },
  "simd-relaxed": {
    script: () => new URL("./engine/gpt2-simd-relaxed.js", import.meta.url),
    code: () => new URL("./engine/gpt2-simd-relaxed.wasm", import.meta.url),
  },
  simd: {
    script: () => new URL("./engine/gpt2-simd.js", import.meta.url),
    code: () => new URL("./engine/gpt2-simd.wasm", import.meta.url),
  },
};

/** Parts that few pages need, by the file that the worker and its parts import (web/scripts/package.mjs). */
const parts: Readonly<Record<string, () => URL>> = {
  "./gpt2-cache.js": () => new URL("./gpt2-cache.js", import.meta.url),
  "./gpt2-convert.js": () => new URL("./gpt2-convert.js", import.meta.url),
  "./gpt2-languages.js": () => new URL("./gpt2-languages.js", import.meta.url),
  "./gpt2-inspect.js": () => new URL("./gpt2-inspect.js", import.meta.url),
  "./gpt2-sha256.js": () => new URL("./gpt2-sha256.js", import.meta.url),
  "./gpt2-sources.js": () => new URL("./gpt2-sources.js", import.meta.url),
};

/** Imports a part by its address. Bundlers would split this script at an import(), which some of them cannot. */
export async function importPart(file: string): Promise<unknown> {
  const address = parts[file];
  if (!address) throw new Error(`${file} is not a part of the worker`);
  return importAsItIs(address().href);
}
