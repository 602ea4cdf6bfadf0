// Estimates how much memory a model needs, so that the engine's memory has the right size.
import { storedFormats, type KvFormat, type StoredFormat } from "../shared/formats.js";
import { mostContinuations } from "../shared/generate-options.js";

const pageBytes = 65536;
const largestBytes = 4 * 1024 ** 3; // the limit of 32-bit WebAssembly

/**
 * Sizes in a config.json: their defaults in transformers, and their other names. The same as in
 * engine/format/config_json.cc.
 */
const sizes = {
  n_embd: [768, "hidden_size"],
  n_head: [12, "num_attention_heads"],
  n_layer: [12, "num_hidden_layers"],
  n_positions: [1024, "max_position_embeddings", "n_ctx"],
  vocab_size: [50257],
} as const;

/** A size of the model that a parsed config.json describes; 0 if it is not one. */
export function sizeIn(config: unknown, name: keyof typeof sizes): number {
  const fields = Object(config) as Record<string, unknown>;
  const [usual, ...others] = sizes[name];
  const found = [name, ...others].find((each) => fields[each] !== undefined);
  const value = found !== undefined ? fields[found] : fields.model_type === undefined ? 0 : usual;
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/**
 * Bytes of memory per byte of the weights file: f16 is widened. A q8 file has no sums of codes: 36 / 34. The embedding of
 * a q4 model is q8. The rest is padding.
 */
const memoryPerFileByte = { f32: 1.02, f16: 2.04, q8: 1.08, q4: 1.08 } satisfies Record<StoredFormat, number>;

/** Numbers of one key in all heads. The heads of a GPT-BigCode share one. */
function keyWidth(config: unknown): number {
  const width = sizeIn(config, "n_embd");
  const { model_type, multi_query = true } = (config ?? {}) as {
    model_type?: unknown;
    multi_query?: unknown;
  };
  const isShared = model_type === "gpt_bigcode" && multi_query === true;
  return isShared ? width / (sizeIn(config, "n_head") || 1) : width;
}

function weightFormat(config: unknown): StoredFormat {
  const { quantization_config: quantization } = Object(config) as { quantization_config?: unknown };
  const { weights } = Object(quantization) as { weights?: unknown };
  return storedFormats.find((format) => format === weights) ?? "f16"; // the largest factor, if the format is unknown
}

/** Tokens in one forward pass: kMaxBatch in engine/model/forward.h. */
const maxBatch = 64;
/** Tokens whose logits are computed together: kLogitTokens in engine/generate/context.h. */
const logitTokens = 16;

const floatBytes = 4;
/** Bytes of a value in an 8-bit cache: its code, its share of a scale, and padding to whole blocks of positions. */
const q8CacheBytes = 1.2;
/** Floats per n_embd that Scratch holds for a token: 11, and codes and scales of the widest input. */
const activationsPerWidth = 16;
/**
 * Bytes per token of the vocabulary: its text, its merges, and the files that they are read from. GPT-2's 50,257 take 17
 * MB, which is 340 each.
 */
const tokenizerBytes = 400;
/** The engine itself and its stacks, 5 MB; a piece of weights while it is copied, 8 MB; and about as much in reserve. */
const slackBytes = 24 * 1024 * 1024;
/** Room to grow by a quarter, in case the estimate is too low, and for prompts: one of 10 MB takes 30 MB. */
const growth = 1.25;
const textBytes = 64 * 1024 * 1024;

/**
 * More than any GPT-2 needs besides its weights: 1.5B with a float cache takes 0.7 GB. The engine itself refuses a
 * config that claims more, with a better message than a failed allocation.
 */
const mostClaimed = 1024 ** 3;

/** The memory that a model needs, in bytes, part by part. */
export interface MemoryParts {
  weights: number;
  /** Keys and values of one sequence. */
  cache: number;
  activations: number;
  logits: number;
  tokenizer: number;
}

/** An upper estimate for a model of `config` (any parsed config.json) whose weights file has `weightBytes`. */
export function estimateMemory(config: unknown, weightBytes: number, kv: KvFormat | undefined): MemoryParts {
  const width = sizeIn(config, "n_embd");
  const positions = sizeIn(config, "n_positions");
  const vocab = sizeIn(config, "vocab_size");
  const format = weightFormat(config);
  const isQuantized = format !== "f32" && format !== "f16";
  const cacheBytes = kv === "f32" || !isQuantized ? floatBytes : q8CacheBytes;
  return {
    // wpe consists of floats in every format.
    weights: weightBytes * memoryPerFileByte[format] + positions * width * floatBytes,
    cache: sizeIn(config, "n_layer") * positions * keyWidth(config) * 2 * cacheBytes,
    activations: maxBatch * width * activationsPerWidth * floatBytes,
    logits: logitTokens * vocab * floatBytes,
    tokenizer: vocab * tokenizerBytes,
  };
}

/** Pages of a WebAssembly.Memory: `initial` is what the model is expected to need. */
export interface MemoryPlan {
  initial: number;
  maximum: number;
}

/** The memory to allocate for a model; see estimateMemory. The engine checks every allocation itself. */
export function planMemory(config: unknown, weightBytes: number, kv: KvFormat | undefined): MemoryPlan {
  const { weights, cache, activations, logits, tokenizer } = estimateMemory(config, weightBytes, kv);
  const bytes = weights + cache + activations + logits + tokenizer + slackBytes;
  const claimed = bytes - weightBytes * memoryPerFileByte.f16;
  const needed = claimed > mostClaimed ? slackBytes : bytes;
  const initial = Math.ceil(Math.min(needed, largestBytes / 2) / pageBytes);
  const most = bytes * growth + (mostContinuations - 1) * cache + textBytes;
  const maximum = Math.ceil(Math.min(most, largestBytes) / pageBytes);
  return { initial, maximum: Math.max(initial, maximum) };
}
