// Written by engine/generate/options.mjs: edit options.json beside it.

/** Options of a generation. A value in the model's generation_config.json replaces the default that is stated here. */
export interface GenerateOptions {
  /** Maximum number of tokens to write; default 64. A model's `max_length` counts the prompt, too, unless it is 20. */ maxNewTokens?: number | undefined;
  /** Minimum number of tokens to write before the end-of-text token; default 0. A `stop` text may end the text earlier. */ minNewTokens?: number | undefined;
  /** Randomness: 0 takes the most probable token, 1 samples as the model predicts; default 0.8. Logits are divided by it. */ temperature?: number | undefined;
  /** Keep this many of the most probable tokens; 0 keeps all; default 40. Top-k sampling (Fan et al. 2018). */ topK?: number | undefined;
  /** Keep the fewest tokens with this much probability together; 1 keeps all; default 0.95. Nucleus sampling (Holtzman et al. 2020). */ topP?: number | undefined;
  /** Keep tokens with at least this share of the top token's probability; 0 keeps all; default 0. Min-p sampling (Nguyen et al. 2024). */ minP?: number | undefined;
  /** Keep the tokens closest to the expected surprise, with this much probability together; 1 keeps all; default 1. The expected surprise is the entropy: locally typical sampling (Meister et al. 2022). */ typicalP?: number | undefined;
  /** Never write the same sequence of this many tokens twice; 0 allows repetition; default 0. Sequences in the part of the prompt that the context holds count, too. */ noRepeatNgramSize?: number | undefined;
  /** Above 1, tokens of the text so far become less likely; default 1. Their positive logits are divided by it, and negative ones multiplied (Keskar et al. 2019). */ repetitionPenalty?: number | undefined;
  /** Above 0, a token becomes less likely each time that the model writes it; default 0. This times their number is taken from its logit, as in OpenAI's API. */ frequencyPenalty?: number | undefined;
  /** Above 0, tokens that the model has written become less likely; default 0. This is taken from their logits once, as in OpenAI's API. */ presencePenalty?: number | undefined;
  /** Number of continuations to write at once, 1 to 16; default 1. Continuation i uses seed + i, and its tokens have `index` i. Together they take less time than one after another. */ n?: number | undefined;
  /** The same seed gives the same text on every machine; by default a random one. The summary reports it. */ seed?: number | undefined;
  /** Number of alternatives to report with each token; default 0. Log-probabilities and `rank` are the model's own, before any filter. */ logprobs?: number | undefined;
  /** Draft tokens from the text so far, and verify them together; default true. The output is the same, and comes sooner where the text repeats itself. */ lookup?: boolean | undefined;
  /** Continue the word or space at the end of the prompt: write its last tokens again; default false. Tokens that only rewrite that end have no text, and do not count. */ heal?: boolean | undefined;
  /** Continue after the end-of-text token; default false. */ ignoreEos?: boolean | undefined;
  /** Refuse a text that does not fit the context instead of cutting it; default false. */ strict?: boolean | undefined;
  /** Read `<|endoftext|>` in the prompt as the token, not as text; default false. */ allowSpecial?: boolean | undefined;
  /** End the text before the first of these strings. No part of them is returned. The one that is complete first counts; of those that end together, the one that begins first. */ stop?: string | readonly string[] | undefined;
}

/** The values that a generation uses for options that a call leaves out. */
export type GenerationDefaults = Readonly<Record<"maxNewTokens" | "minNewTokens" | "temperature" | "topK" | "topP" | "minP" | "typicalP" | "noRepeatNgramSize" | "repetitionPenalty" | "frequencyPenalty" | "presencePenalty", number>>;

/** Those that change a distribution without regard to the text. */
export type FilterName = "temperature" | "topK" | "topP" | "minP" | "typicalP";

/** The numbers of a completion request that control how to sample. */
export interface CompletionNumbers {
  /** Maximum number of tokens to write; default 16. */ max_tokens?: number | null | undefined;
  /** Minimum number of tokens to write before the end-of-text token; default 0. */ min_tokens?: number | null | undefined;
  /** Randomness: 0 takes the most probable token, 1 samples as the model predicts; default 1. */ temperature?: number | null | undefined;
  /** Keep this many of the most probable tokens; 0 keeps all; default 0. */ top_k?: number | null | undefined;
  /** Keep the fewest tokens with this much probability together; 1 keeps all; default 1. */ top_p?: number | null | undefined;
  /** Keep tokens with at least this share of the top token's probability; 0 keeps all; default 0. */ min_p?: number | null | undefined;
  /** Keep the tokens closest to the expected surprise, with this much probability together; 1 keeps all; default 1. */ typical_p?: number | null | undefined;
  /** Never write the same sequence of this many tokens twice; 0 allows repetition; default 0. */ no_repeat_ngram_size?: number | null | undefined;
  /** Above 1, tokens of the text so far become less likely; default 1. */ repetition_penalty?: number | null | undefined;
  /** Above 0, a token becomes less likely each time that the model writes it; default 0. */ frequency_penalty?: number | null | undefined;
  /** Above 0, tokens that the model has written become less likely; default 0. */ presence_penalty?: number | null | undefined;
  /** The same seed gives the same text on every machine; by default a random one. */ seed?: number | null | undefined;
}

/** The names of all options. */
export const generateOptionNames: readonly string[] = ["maxNewTokens", "minNewTokens", "temperature", "topK", "topP", "minP", "typicalP", "noRepeatNgramSize", "repetitionPenalty", "frequencyPenalty", "presencePenalty", "n", "seed", "logprobs", "lookup", "heal", "ignoreEos", "strict", "allowSpecial", "stop"];

/** The names of the table below. They are literals, so that a bundle that needs only them leaves the table out. */
export const numberOptionNames = ["maxNewTokens", "minNewTokens", "temperature", "topK", "topP", "minP", "typicalP", "noRepeatNgramSize", "repetitionPenalty", "frequencyPenalty", "presencePenalty", "seed"] as const;

export type NumberOptionName = (typeof numberOptionNames)[number];

export interface NumberOption {
  /** Its name in a completion request. */
  openai: string;
  /** The value if neither the caller nor the model's generation_config.json sets it; null: a random number. */
  initial: number | null;
  /** The same in a completion request, which follows OpenAI's defaults; undefined: `initial`. */
  openaiInitial?: number;
  least: number;
  most: number;
  isWhole: boolean;
}

/** The numbers that are attributes, members of a completion request, and fields of the page. */
export const numberOptions = {
  maxNewTokens: { openai: "max_tokens", initial: 64, openaiInitial: 16, least: 0, most: 16777216, isWhole: true },
  minNewTokens: { openai: "min_tokens", initial: 0, least: 0, most: 16777216, isWhole: true },
  temperature: { openai: "temperature", initial: 0.8, openaiInitial: 1, least: 0, most: 100, isWhole: false },
  topK: { openai: "top_k", initial: 40, openaiInitial: 0, least: 0, most: 16777216, isWhole: true },
  topP: { openai: "top_p", initial: 0.95, openaiInitial: 1, least: 0, most: 1, isWhole: false },
  minP: { openai: "min_p", initial: 0, least: 0, most: 1, isWhole: false },
  typicalP: { openai: "typical_p", initial: 1, least: 0, most: 1, isWhole: false },
  noRepeatNgramSize: { openai: "no_repeat_ngram_size", initial: 0, least: 0, most: 16777216, isWhole: true },
  repetitionPenalty: { openai: "repetition_penalty", initial: 1, least: 0.01, most: 100, isWhole: false },
  frequencyPenalty: { openai: "frequency_penalty", initial: 0, least: -2, most: 2, isWhole: false },
  presencePenalty: { openai: "presence_penalty", initial: 0, least: -2, most: 2, isWhole: false },
  seed: { openai: "seed", initial: null, least: 0, most: 9007199254740991, isWhole: true },
} as const satisfies Record<NumberOptionName, NumberOption>;

/** The most continuations of one generation. */
export const mostContinuations = 16;
