// Where the engine's builds are: beside the worker's script. Each address is written out, as bundlers follow only
// what is literal; they copy the files as they are. Asked for when needed: a worker from a blob has nothing beside it.
import type { Variant } from "../shared/types.js";

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
