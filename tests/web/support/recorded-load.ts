// A load in the worker, with an engine that only records calls.
import { createHash } from "node:crypto";
import type { ModelSource } from "../../../web/src/model/sources/model-source.js";
import type { Gpt2Error } from "../../../web/src/shared/errors.js";
import type { LoadRequest } from "../../../web/src/shared/protocol.js";
import type { LoadProgress } from "../../../web/src/shared/types.js";
import type { ModuleFactory, ThreadStart } from "../../../web/src/model/wasm-instance.js";
import { loadEngine, type LoadSurroundings } from "../../../web/src/worker/load.js";
import type { Features } from "../../../web/src/worker/variants.js";
import { loadRequest } from "./load-request.js";
import { MemorySource, type Files } from "./memory-source.js";

const code = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
export const everything: Features = {
  webAssembly: true,
  simd: true,
  relaxedSimd: true,
  threads: true,
  isIsolated: true,
  isSecure: true,
};
const firstThread = { helper: 1 } as ThreadStart;

/** The calls of the engine, and its answers. */
export class RecordedEngine {
  readonly calls: string[] = [];
  readonly weights: number[] = [];
  readonly threads: unknown[] = [];
  texts: string[] = [];
  startedThreads = 4;
  /** Layers that the bytes so far complete: one for each two bytes. */
  layersRun = 0;
  refusal: Gpt2Error | undefined;
  private memory = new WebAssembly.Memory({ initial: 0 });
  private top = 65536;

  readonly factory: ModuleFactory = async ({ wasmMemory, startThread }) => {
    this.memory = wasmMemory;
    startThread?.(firstThread);
    const functions: Record<string, (...args: number[]) => number> = {
      _gpt2_create: (threads = 0) => (this.calls.push(`create ${threads}`), 1),
      _gpt2_is_exact: () => 1,
      _gpt2_allocate: (size = 0) => (this.top += size) - size,
      _gpt2_started_threads: () => this.startedThreads,
      _gpt2_load_begin: (_, ...pairs) => {
        for (let i = 0; i < pairs.length; i += 2) this.texts.push(this.text(pairs[i], pairs[i + 1]));
        return 0;
      },
      _gpt2_load_weights: (_, pointer, size) => {
        this.weights.push(...this.view(pointer, size));
        if (!this.refusal) return 0;
        const { code: errorCode, message } = this.refusal;
        return this.reply({ error: { code: errorCode, message } });
      },
      _gpt2_load_prompt: (_, pointer, size) => (this.calls.push(`prompt ${this.text(pointer, size)}`), 0),
      _gpt2_load_step: () => this.runLayer(),
      _gpt2_output: () => 128,
      _gpt2_load_end: () => {
        this.calls.push("load_end");
        return this.reply({ result: { threads: this.startedThreads, kernels: "relaxed", kv: "q8" } });
      },
      _gpt2_drop_unstarted_threads: () => (this.calls.push("drop"), 0),
      _gpt2_destroy: () => (this.calls.push("destroy"), 0),
    };
    const get = (_: object, name: string) => (name === "then" ? undefined : (functions[name] ?? (() => 0)));
    return new Proxy({}, { get });
  };

  private runLayer(): number {
    const ready = this.weights.length >> 1;
    if (this.layersRun < ready) this.calls.push(`layer ${++this.layersRun}`);
    const words = [0, 0, 0, 0, this.layersRun, 5, Number(this.layersRun === ready)];
    new Uint32Array(this.memory.buffer, 128, words.length).set(words);
    return 0;
  }
  /** A copy: the memory may be shared. */
  private view(pointer = 0, size = 0): Uint8Array {
    return Uint8Array.from(new Uint8Array(this.memory.buffer, pointer, size));
  }
  private text(pointer = 0, size = 0): string {
    return new TextDecoder().decode(this.view(pointer, size));
  }
  private reply(answer: object): number {
    const bytes = new TextEncoder().encode(`${JSON.stringify(answer)}\0`);
    new Uint8Array(this.memory.buffer, 64, bytes.length).set(bytes);
    return 64;
  }
}

export const weights = Uint8Array.from({ length: 10 }, (_, i) => i);
export const piece = (bytes: Uint8Array, path: string) => ({
  path,
  size: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
});
export const config = JSON.stringify({ n_embd: 4, n_layer: 1, n_positions: 8, vocab_size: 16 });
/** A converted model, in two pieces. */
export const indexed = {
  "config.json": config,
  "vocab.json": "{}",
  "merges.txt": "m",
  "weights.json": JSON.stringify({
    size: 10,
    pieces: [piece(weights.subarray(0, 6), "w.000"), piece(weights.subarray(6), "w.001")],
  }),
  "w.000": weights.subarray(0, 6),
  "w.001": weights.subarray(6),
};
/** A model of the Hub. */
export const hub = { "config.json": config, "model.safetensors": weights };

interface Setting {
  files?: Files;
  /** Instead of one that gives `files`. */
  openSource?: (...args: Parameters<LoadSurroundings["openSource"]>) => ModelSource;
  engine?: RecordedEngine;
  features?: Partial<Features>;
  request?: Partial<LoadRequest>;
  failed?: number;
  compile?: (...args: Parameters<LoadSurroundings["builds"]["compile"]>) => Promise<unknown>;
  signal?: AbortSignal;
  onEngine?: LoadSurroundings["onEngine"];
  onLayer?: () => void;
}

export function load(setting: Setting = {}) {
  const { engine = new RecordedEngine(), files = indexed } = setting;
  const progress: LoadProgress[] = [];
  const fetched: string[] = [];
  const opened: LoadRequest[] = [];
  const request = loadRequest({ kind: "folder", url: "http://host/m/" }, setting.request);
  const loaded = loadEngine(request, {
    signal: setting.signal ?? new AbortController().signal,
    tell: (event) => {
      progress.push(event);
      if (event.layer) setting.onLayer?.();
    },
    openSource: async (...wanted) => {
      opened.push(wanted[0]);
      return setting.openSource?.(...wanted) ?? new MemorySource(files);
    },
    builds: {
      importScript: async (variant) => {
        fetched.push(variant);
        return { createModule: engine.factory, threadScript: `${variant}.js` };
      },
      compile: async (...wanted) => (await setting.compile?.(...wanted), code),
    },
    startThread: (script, start) => void engine.threads.push([script, start]),
    features: async () => ({ ...everything, ...setting.features }),
    cores: 4,
    failedThreads: () => setting.failed ?? 0,
    onEngine: setting.onEngine ?? (() => {}),
  });
  return { engine, progress, fetched, opened, request, loaded };
}
