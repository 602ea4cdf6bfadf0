// How much memory a model will take, so that the engine's memory is made to measure.

const pageBytes = 65536;
const largestBytes = 4 * 1024 ** 3; // what a 32-bit WebAssembly memory can have

function field(config: unknown, name: string): number {
  if (typeof config !== "object" || config === null || !(name in config)) return 0;
  const value: unknown = (config as Record<string, unknown>)[name];
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** What a byte of the weights file becomes: a hub's floats of two bytes or more are quantized, f16 is widened. */
const memoryPerFileByte = { hub: 0.6, f32: 1.02, f16: 2.04, q8: 1.02, q4: 1.02 };

function weightFormat(config: unknown): keyof typeof memoryPerFileByte {
  if (typeof config !== "object" || config === null || !("quantization_config" in config)) return "hub";
  const quantization: unknown = config.quantization_config;
  const isRecord = typeof quantization === "object" && quantization !== null && "weights" in quantization;
  const weights = isRecord ? quantization.weights : undefined;
  const known = weights === "f32" || weights === "q8" || weights === "q4";
  return known ? weights : "f16"; // the largest, for what is unknown
}

/** Of one generation, each with a cache of its own: kMostContinuations in engine/generate/options.h. */
const mostContinuations = 16;

/** Pages of a WebAssembly.Memory: `initial` is what the model is expected to need. */
export interface MemoryPlan {
  initial: number;
  maximum: number;
}

/**
 * Plans for a model of `config` (parsed config.json, anything) whose weights file has `weightBytes`.
 * An estimate from above: the engine checks every allocation itself.
 */
export function planMemory(config: unknown, weightBytes: number, kv: "q8" | "f32" | undefined): MemoryPlan {
  const width = field(config, "n_embd");
  const layers = field(config, "n_layer");
  const positions = field(config, "n_positions") || field(config, "n_ctx");
  const vocab = field(config, "vocab_size");
  const format = weightFormat(config);
  const isQuantized = format !== "f32" && format !== "f16";
  // wpe is floats of four bytes in every format.
  const weights = weightBytes * memoryPerFileByte[format] + positions * width * 4;
  const cacheValue = kv === "f32" || !isQuantized ? 4 : 1.2; // bytes, scales included
  const cache = layers * positions * width * 2 * cacheValue;
  const activations = 64 * width * 16 * 4;
  const logits = 16 * vocab * 4;
  const tokenizer = vocab * 400; // strings, merges and the files they are read from
  const slack = 24 * 1024 * 1024; // the engine itself, stacks, one piece of weights
  const bytes = weights + cache + activations + logits + tokenizer + slack;
  const initial = Math.ceil(Math.min(bytes, largestBytes / 2) / pageBytes);
  const most = bytes * 1.25 + (mostContinuations - 1) * cache + 64 * 1024 * 1024;
  const maximum = Math.ceil(Math.min(most, largestBytes) / pageBytes);
  return { initial, maximum: Math.max(initial, maximum) };
}
