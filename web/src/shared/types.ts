// The public types of the module. Sizes are in bytes, times in milliseconds, logarithms natural.

/** The builds of the engine: threads or not, relaxed SIMD or not. */
export const variants = ["threads-relaxed", "threads", "simd-relaxed", "simd"] as const;
export type Variant = (typeof variants)[number];

/** Ids of tokens, in any kind of array. */
export type TokenIds =
  readonly (number | bigint)[] | Uint32Array | Int32Array | Uint16Array | BigInt64Array | BigUint64Array;

/** A text, or the ids of its tokens. */
export type Prompt = string | TokenIds;

/** How far a load has come: told on each change of stage, and about 20 times a second while bytes flow. */
export interface LoadProgress {
  /** The engine starts, the weights come, the last of them are checked, all is there. */
  stage: "engine" | "download" | "check" | "ready";
  /** Of the weights, as their host has them: of floats that are converted while they are read, the floats. */
  loadedBytes: number;
  /** 0 until it is known. */
  totalBytes: number;
  /** Over the last seconds; 0 until it is known. */
  bytesPerSecond: number;
  /** Until all bytes are there, at that rate; null while it is not known. */
  secondsLeft: number | null;
  /** Where the last bytes came from. */
  source: "network" | "cache";
  /** Layers through which a prompt that was given before has run, as far as the weights have come. */
  layer?: PromptProgress;
  /** While a file is asked for once more: what went wrong. */
  retry?: string;
}

/** How far something has come that has so many steps: the prefill of a prompt, or scoring a text, in tokens. */
export interface PromptProgress {
  done: number;
  total: number;
}

/** What a model's generation_config.json says comes before the defaults that are named here. */
export interface GenerateOptions {
  /** Tokens to write at most; 64. */
  maxNewTokens?: number | undefined;
  /** 0 takes the most probable token, 1 the model's own distribution; 0.8. */
  temperature?: number | undefined;
  /** Keep the k most probable tokens; 0 keeps all; 40. */
  topK?: number | undefined;
  /** Keep the fewest tokens with this much probability; 0.95. */
  topP?: number | undefined;
  /** Keep tokens with this share of the top token's probability; 0. */
  minP?: number | undefined;
  /** Above 1 makes tokens of the text so far less likely; 1. */
  repetitionPenalty?: number | undefined;
  /** Continuations to write at once, 1 to 16; 1. Number i draws with seed + i; together they take little longer than one. */
  n?: number | undefined;
  /** Draft tokens from the text so far, which gives the same tokens sooner where a text repeats itself; true. */
  lookup?: boolean | undefined;
  /** Go on in the word, or the space, that the prompt ends in; false. Tokens that only write its end again have no text, and do not count. */
  heal?: boolean | undefined;
  /** The same seed gives the same text on every machine; random, and reported, when left out. */
  seed?: number | undefined;
  /** End before the first of these. */
  stop?: string | readonly string[] | undefined;
  /** Continue after the end-of-text token; false. */
  ignoreEos?: boolean | undefined;
  /** Alternatives to report with each token; 0. */
  logprobs?: number | undefined;
  /** Refuse what does not fit the context instead of cutting it; false. */
  strict?: boolean | undefined;
  /** "<|endoftext|>" in the prompt is the token, not text; false. */
  allowSpecial?: boolean | undefined;
}

export interface TokenLogprob {
  id: number;
  text: string;
  logprob: number;
}

export interface Token {
  /** Which of the `n` continuations it belongs to, from 0. */
  index: number;
  id: number;
  /** The text that became final with this token: whole characters, never a part of a stop string or, healed, of the prompt. */
  text: string;
  /** Under the model's own distribution, before any filter. */
  logprob: number;
  /** Among all tokens, by their logprob there: 1 for the most probable. */
  rank: number;
  /** How much of it `heal` writes that the prompt has already; left out where that is nothing. */
  healed?: "some" | "all";
  /** The most probable tokens at this place, as many as `logprobs` asked for; where it is still healed, of those that may be there. */
  top?: TokenLogprob[];
}

export type FinishReason = "length" | "eos" | "stop";

export interface Timings {
  /** From the request to the first token. */
  firstTokenMs: number;
  /** Without the time in which it waited for its reader. */
  totalMs: number;
  /** Tokens of the prompt that were computed, and at which rate. */
  promptTokens: number;
  promptTokensPerSecond: number;
  /** Tokens after the first of each continuation, and at which rate. */
  decodedTokens: number;
  decodedTokensPerSecond: number;
  /** Tokens that lookup drafted, and how many of them were accepted. */
  draftedTokens: number;
  acceptedTokens: number;
}

/** What is known when a generation ends. */
export interface GenerateSummary {
  /** Of the first continuation. */
  finishReason: FinishReason;
  /** Of each continuation. */
  finishReasons: FinishReason[];
  /** The seed that was used; continuation i drew with seed + i. */
  seed: number;
  promptTokens: number;
  /** Tokens of the prompt that a common beginning with the last one saved. */
  reusedTokens: number;
  /** Tokens at the end of the prompt that `heal` took back: the tokens written come in their place. */
  healedTokens: number;
  /** Tokens at the start of the text that no longer fit the context. */
  droppedTokens: number;
  timings: Timings;
}

/** How much of a text is in the KV cache. */
export interface Prefilled {
  /** Tokens of the text, or as many of its last as the context holds. */
  promptTokens: number;
  /** Those that a common beginning with what was there before saved. */
  reusedTokens: number;
  /** Those that are there now: all but the last, which a generation runs, or fewer where another request came first. */
  cachedTokens: number;
}

/** What the model makes of one token of a text. */
export interface Inspection {
  /** The tokens up to the one that is inspected, which is the last of them. */
  ids: number[];
  /** Whose attention that is, from 0. */
  layer: number;
  /**
   * The likeliest next tokens as the model sees it after the embedding (0) and after each layer i (i + 1): its residual
   * stream there, through the last layer norm and the head ("logit lens"). [nLayer + 1][top], most probable first.
   */
  guesses: TokenLogprob[][];
  /** Heads of the layer that are in `attention`: all, or the one that was asked for. */
  heads: number;
  /** How much each head takes of each token: [heads, ids.length], row by row, each of which sums to 1. */
  attention: Float32Array;
}

export interface Continuation {
  text: string;
  tokens: Token[];
  finishReason: FinishReason;
  seed: number;
}

export interface Completion extends GenerateSummary {
  /** Of the first continuation. */
  text: string;
  tokens: Token[];
  /** All `n` of them. */
  continuations: Continuation[];
}

export interface Score {
  /**
   * Those from `start` on. The text's first token has no logprob and no rank, which is 1 for the most probable of all
   * tokens: nothing predicts it.
   */
  tokens: { id: number; text: string; logprob: number | null; rank: number | null }[];
  /** The sum over these tokens. */
  logprob: number;
  /** Of these tokens, after those before them; null where none has a logprob. */
  perplexity: number | null;
}

/** How far a scoring has come. */
export interface ScoreProgress extends PromptProgress {
  /** Those that were scored since it was told last. */
  tokens: Score["tokens"];
}

export interface ModelConfig {
  nEmbd: number;
  nHead: number;
  nLayer: number;
  nInner: number;
  nPositions: number;
  vocabSize: number;
  eosTokenId: number | null;
  tieWordEmbeddings: boolean;
}

/** What a generation does where its caller says nothing. */
export type GenerationDefaults = Readonly<
  Record<"maxNewTokens" | "temperature" | "topK" | "topP" | "minP" | "repetitionPenalty", number>
>;

export interface ModelInfo {
  /** What it was loaded from: its folder's absolute URL, or `hf:owner/name@revision`; null for files of this device. */
  source: string | null;
  config: ModelConfig;
  parameters: number;
  /** Format of the weights in memory, and of the KV cache. */
  weights: "q4" | "q8" | "f32";
  kv: "q8" | "f32";
  weightBytes: number;
  /** KV cache, activations and logits. */
  contextBytes: number;
  /** All memory of the engine. */
  memoryBytes: number;
  threads: number;
  variant: Variant;
  /** The kernels in use; `"relaxed-pairs"` on processors without an instruction for relaxed SIMD's dot product. */
  simd: "relaxed" | "relaxed-pairs" | "simd128";
  hasTokenizer: boolean;
  /** As the model's generation_config.json says, where it has one, and this module's own for the rest. */
  defaults: GenerationDefaults;
  /** Why this is slower than it could be, in words; null if it is not. */
  notice: string | null;
  /** Why this model is not stored on this device for the next visit, in words; null if it is, or with `cache: false`. */
  notStored: string | null;
  /** Sentences about settings of the model that this module ignores; usually none. */
  warnings: string[];
}

/** A model that is stored on this device. */
export interface StoredModel {
  /** What it was loaded by: the absolute URL of its folder, or its id on a hub. */
  id: string;
  /** What its floats were quantized to while it was read; null where it was stored as it came. */
  weights: "q8" | "q4" | "f32" | null;
  /** Bytes that are stored of it. Models share what is equal in them, and each counts all of it. */
  bytes: number;
  /** Bytes of all its files. */
  totalBytes: number;
  /** Whether it loads without network; else its download goes on where it was interrupted. */
  isComplete: boolean;
  /** Whether the user keeps it: it is not removed to make room for others. */
  isKept: boolean;
  /** When it was loaded last. */
  used: Date;
}

export interface StorageInfo {
  /** Where models are stored; null where this browser gives this page nothing for that. */
  kind: "opfs" | "cache-storage" | null;
  /** Bytes that the models take, each file counted once. */
  modelBytes: number;
  /** Bytes that all of this origin takes, and may take, as the browser estimates; null where it does not say. */
  usage: number | null;
  quota: number | null;
  /** Whether the browser has promised not to remove anything by itself when it is short of room. */
  persisted: boolean;
  /** Why models cannot be stored, in words; null if they can. */
  notice: string | null;
}
