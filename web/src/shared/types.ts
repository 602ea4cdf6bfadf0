// The public types of the module. Sizes are in bytes, times in milliseconds, and logarithms natural.
import type { KvFormat, WeightFormat } from "./formats.js";
import type { GenerateOptions, GenerationDefaults } from "./generate-options.js";

export type { GenerateOptions, GenerationDefaults };

/** The builds of the engine: threads or not, relaxed SIMD or not. */
export const variants = ["threads-relaxed", "threads", "simd-relaxed", "simd"] as const;
/** A build of the engine. All builds compute the same bits. */
export type Variant = (typeof variants)[number];

/** Ids of tokens, in any kind of array. */
export type TokenIds =
  readonly (number | bigint)[] | Uint32Array | Int32Array | Uint16Array | BigInt64Array | BigUint64Array;

/** A text, or the ids of its tokens. */
export type Prompt = string | TokenIds;

/** The progress of a load. Reported at each change of stage, and about 20 times a second while bytes arrive. */
export interface LoadProgress {
  /** `"engine"`: the engine starts. `"download"`: weights arrive. `"check"`: the last of them are verified. `"ready"`: the model is loaded. */
  stage: "engine" | "download" | "check" | "ready";
  /** Bytes of the weights as the host stores them, before any conversion. */
  loadedBytes: number;
  /** Bytes of all weights on the host; 0 while it is unknown. */
  totalBytes: number;
  /** Rate over the last seconds, in bytes per second; 0 while it is unknown, or other files share the connection. */
  bytesPerSecond: number;
  /** Seconds until all bytes have arrived, at that rate; null while it is unknown. */
  secondsLeft: number | null;
  /** Where the last bytes came from. */
  source: "network" | "cache";
  /** With the option `prompt`: layers that the prompt has run through. */
  layer?: PromptProgress;
  /** While a failed request is repeated: why it failed. */
  retry?: string;
}

/** The progress of a prefill or of scoring, in tokens. In `LoadProgress.layer` it counts layers. */
export interface PromptProgress {
  /** Tokens, or layers, that are done. */
  done: number;
  /** Tokens, or layers, in all. */
  total: number;
}

/** A token that may follow at a place, and its log-probability there. */
export interface TokenLogprob {
  /** Its id in the vocabulary. */
  id: number;
  /** Its text. */
  text: string;
  /** Natural logarithm of its probability, before any filter. */
  logprob: number;
}

/** A token that the model has written. */
export interface Token {
  /** Which of the `n` continuations it belongs to, from 0. */
  index: number;
  /** Its id in the vocabulary. */
  id: number;
  /** The text that became final with this token: whole characters, without any part of a stop string or of a healed prompt. */
  text: string;
  /** Natural logarithm of its probability, before any filter. */
  logprob: number;
  /** Its rank among all tokens at that place: 1 for the most probable. */
  rank: number;
  /** With `heal`: whether some or all of its bytes repeat the end of the prompt; left out if none do. */
  healed?: "some" | "all";
  /**
   * The most probable tokens at this place, as many as `logprobs` requests. While the prompt is healed, only tokens that
   * are allowed there.
   */
  top?: TokenLogprob[];
}

/** Why a continuation ended: `maxNewTokens` was reached, the model wrote its end-of-text token, or a text of `stop` followed. */
export type FinishReason = "length" | "eos" | "stop";

/** The times and speeds of a generation. */
export interface Timings {
  /** Milliseconds from the request to the first token. */
  firstTokenMs: number;
  /** Milliseconds from the request to the end, without the time spent waiting for the reader. */
  totalMs: number;
  /** Tokens of the prompt that were computed. */
  promptTokens: number;
  /** Speed of the prefill, in tokens per second. */
  promptTokensPerSecond: number;
  /** Tokens after those of the first step, which gives each continuation one; with `heal`, it may give more. */
  decodedTokens: number;
  /** Speed of decoding, in tokens per second. */
  decodedTokensPerSecond: number;
  /** Tokens that `lookup` drafted. */
  draftedTokens: number;
  /** Drafted tokens that the model accepted. */
  acceptedTokens: number;
}

/** Facts about a generation, at its end. */
export interface GenerateSummary {
  /** Why the first continuation ended. */
  finishReason: FinishReason;
  /** Why each continuation ended, [n]. */
  finishReasons: FinishReason[];
  /** The seed that was used; continuation i drew with seed + i. */
  seed: number;
  /** Tokens of the prompt. */
  promptTokens: number;
  /** Tokens of the prompt that were cached, so that they were not computed again. */
  reusedTokens: number;
  /** Tokens at the end of the prompt that `heal` replaced. */
  healedTokens: number;
  /** Tokens at the start of the text that no longer fit the context. */
  droppedTokens: number;
  /** The times of the generation. */
  timings: Timings;
}

/** How much of a text is in the KV cache. */
export interface Prefilled {
  /** Tokens of the text; of a longer text, the last ones that fit the context. */
  promptTokens: number;
  /** Tokens that were cached before. */
  reusedTokens: number;
  /** Tokens that are cached now: all but the last, which a generation runs; fewer if another request ended the prefill. */
  cachedTokens: number;
}

/** The model's attention and guesses at one token of a text. */
export interface Inspection {
  /** The tokens up to the one that is inspected, which is the last of them. */
  ids: number[];
  /** The layer of `attention`, from 0. */
  layer: number;
  /**
   * The most probable next tokens after the embedding (index 0) and after each layer i (index i + 1), most probable first:
   * [nLayer + 1][top]. The residual stream at that place passes through the last layer norm and the head ("logit lens").
   */
  guesses: TokenLogprob[][];
  /** Number of heads in `attention`: all of the layer, or 1 with the option `head`. */
  heads: number;
  /** The weight that each head gives to each token, [heads, ids.length]. Each row sums to 1, unless a change hides all tokens. */
  attention: Float32Array;
  /** The same for every layer, [nLayer]. */
  layers: Float32Array[];
  /** What `capture` names, by the names of its places. */
  captured: Record<string, Captured>;
  /** The layers whose scores or pattern `change` names: their attention is computed in plain float32. */
  plainAttention: number[];
}

/** The values at a place of the forward pass, in the order of `positions`. */
export interface Captured {
  /** All values, row by row. */
  data: Float32Array;
  /**
   * [positions, width]; [positions, heads, width] for queries, keys, values and z; [heads, positions, tokens] for scores and
   * patterns.
   */
  shape: number[];
}

/**
 * A change of values in the forward pass: exactly one of `set`, `scale`, `add` and `from`. Changes apply in their order, before
 * anything is captured.
 */
export interface Change {
  /** The name of the place, such as `blocks.3.attn.z`; `blocks.*.attn.z` is that of every layer. */
  at: string;
  /** One head; by default all. */
  head?: number | undefined;
  /** One value of a row: the neuron of an MLP, the token of `logits`, or a dimension, of a `head` if there are heads. By default all. */
  neuron?: number | undefined;
  /** Positions of tokens in the context; by default all. */
  position?: number | readonly number[] | undefined;
  /** For scores and patterns: the positions that look, by default all. */
  query?: number | readonly number[] | undefined;
  /** For scores and patterns: the position that is looked at; by default all. */
  key?: number | undefined;
  /**
   * The new value, or one for each column. `"mean"`: the mean over the prompt in a pass without changes; the prompt must fit the
   * context, and scores and patterns have none.
   */
  set?: number | ArrayLike<number> | "mean" | undefined;
  /** A factor for the value. */
  scale?: number | undefined;
  /** A value to add, or one for each column. */
  add?: number | ArrayLike<number> | undefined;
  /** A factor for `add`; default 1. */
  weight?: number | undefined;
  /** The values that another text has there: an entry of its `captured` with all positions. Not for scores and patterns. */
  from?: Captured | undefined;
}

/** One of the `n` texts that a call wrote. */
export interface Continuation {
  /** Its text, without the prompt. */
  text: string;
  /** Its tokens. */
  tokens: Token[];
  /** Why it ended. */
  finishReason: FinishReason;
  /** The seed that drew it. */
  seed: number;
}

/** What `complete` returns. */
export interface Completion extends GenerateSummary {
  /** The text of the first continuation, without the prompt. */
  text: string;
  /** The tokens of the first continuation. */
  tokens: Token[];
  /** All `n` continuations. */
  continuations: Continuation[];
}

/** The probability of each token of a text. */
export interface Score {
  /** The tokens from `start` on. */
  tokens: ScoredToken[];
  /** The sum of their log-probabilities. */
  logprob: number;
  /** exp of their mean negative log-probability; null if no token has one. */
  perplexity: number | null;
}

/** A token of a text, and how probable it is after the tokens before it. */
export interface ScoredToken {
  /** Its id in the vocabulary. */
  id: number;
  /** Its text. */
  text: string;
  /** Natural logarithm of its probability; null for the text's first token, which nothing predicts. */
  logprob: number | null;
  /** Its rank among all tokens at that place, 1 for the most probable; null for the text's first token. */
  rank: number | null;
}

/** What `tokenize` returns with `places`. */
export interface TokenizedText {
  /** The ids of the tokens. */
  ids: number[];
  /**
   * Where each token begins in the text, in UTF-16 code units. A token that is a part of a character has the place of the
   * whole character. A token that a template adds to the text begins where it ends.
   */
  starts: number[];
  /** Where each token ends in the text. */
  ends: number[];
}

/** The progress of scoring. */
export interface ScoreProgress extends PromptProgress {
  /** The tokens that were scored since the last report. */
  tokens: ScoredToken[];
}

/** The sizes of a model, with the names of its config.json. */
export interface ModelConfig {
  /** Width of the residual stream. */
  nEmbd: number;
  /** Attention heads in a layer. */
  nHead: number;
  /** Heads of keys and values: `nHead`, or 1 if all heads share them. */
  numKeyValueHeads: number;
  /** Layers. */
  nLayer: number;
  /** Width of the MLP's hidden layer. */
  nInner: number;
  /** Tokens in the context. */
  nPositions: number;
  /** Tokens in the vocabulary. */
  vocabSize: number;
  /** The id of the end-of-text token; null if the model has none. */
  eosTokenId: number | null;
  /** Whether the output layer uses the weights of the embedding. */
  tieWordEmbeddings: boolean;
}

/** Facts about a loaded model. */
export interface ModelInfo {
  /** Its source: the absolute URL of its folder, or `hf:owner/name@revision`; null for files of this device. */
  source: string | null;
  /** Its sizes. */
  config: ModelConfig;
  /** Number of its weights. */
  parameters: number;
  /** Format of the weights in memory. */
  weights: WeightFormat;
  /** Format of the KV cache. */
  kv: KvFormat;
  /** Bytes of the weights in memory. */
  weightBytes: number;
  /** Bytes of KV cache, activations and logits. */
  contextBytes: number;
  /** Bytes of all memory of the engine. */
  memoryBytes: number;
  /** Threads that compute. */
  threads: number;
  /** The build of the engine that runs. */
  variant: Variant;
  /** The kernels in use; `"relaxed-pairs"` on processors without an instruction for relaxed SIMD's dot product. */
  simd: "relaxed" | "relaxed-pairs" | "simd128";
  /** Whether the model has a vocabulary. Without one, prompts are token ids. */
  hasTokenizer: boolean;
  /** The values of the model's generation_config.json, and this module's own for the rest. `maxLength` also counts the prompt. */
  defaults: GenerationDefaults & { readonly maxLength?: number };
  /** Why the model is slower than it could be, as a sentence; null if it is not. */
  notice: string | null;
  /** Why the model is not stored on this device, as a sentence; null if it is stored, or with `cache: false`. */
  notStored: string | null;
  /** Sentences about settings and tensors of the model that are not used; usually none. */
  warnings: string[];
}

/** A model that is stored on this device. */
export interface StoredModel {
  /** The absolute URL of its folder, or its id on a hub. */
  id: string;
  /** The format that it was converted to while it downloaded; null if it was stored unchanged. */
  weights: WeightFormat | null;
  /** Stored bytes of the model. Models share equal files, and each counts them in full. */
  bytes: number;
  /** Bytes of all its files. */
  totalBytes: number;
  /** Whether it loads without a network; if not, its download resumes. */
  isComplete: boolean;
  /** Whether the user keeps it: it is not removed to make room for others. */
  isKept: boolean;
  /** When it was last loaded. */
  used: Date;
}

/** What `storage` returns. */
export interface StorageInfo {
  /** Where models are stored; null if the browser gives this page no storage. */
  kind: "opfs" | "cache-storage" | null;
  /** Bytes of the stored models, each file counted once. */
  modelBytes: number;
  /** Bytes that this origin uses, as the browser estimates them; null if it gives no estimate. */
  usage: number | null;
  /** Bytes that this origin may use, as the browser estimates them; null if it gives no estimate. */
  quota: number | null;
  /** Whether the browser has agreed not to evict what this origin stores. */
  persisted: boolean;
  /** Why models cannot be stored, as a sentence; null if they can. */
  notice: string | null;
}
