// The numeric options of a generation: one table for the elements' attributes, the OpenAI adapter, the page's fields and
// links. GenerateOptions in types.ts documents them. The engine has the same table (engine/generate/options.cc) and
// checks every range; tests/repository compares the two.

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

/** The names of the table. They are literals, so that a bundle that needs only them leaves the table out. */
export const numberOptionNames = [
  "maxNewTokens",
  "temperature",
  "topK",
  "topP",
  "minP",
  "typicalP",
  "noRepeatNgramSize",
  "repetitionPenalty",
  "seed",
] as const;

export type NumberOptionName = (typeof numberOptionNames)[number];

const mostTokens = 2 ** 24;

export const numberOptions = {
  maxNewTokens: {
    openai: "max_tokens",
    initial: 64,
    openaiInitial: 16,
    least: 0,
    most: mostTokens,
    isWhole: true,
  },
  temperature: {
    openai: "temperature",
    initial: 0.8,
    openaiInitial: 1,
    least: 0,
    most: 100,
    isWhole: false,
  },
  topK: { openai: "top_k", initial: 40, openaiInitial: 0, least: 0, most: mostTokens, isWhole: true },
  topP: { openai: "top_p", initial: 0.95, openaiInitial: 1, least: 0, most: 1, isWhole: false },
  minP: { openai: "min_p", initial: 0, least: 0, most: 1, isWhole: false },
  typicalP: { openai: "typical_p", initial: 1, least: 0, most: 1, isWhole: false },
  noRepeatNgramSize: {
    openai: "no_repeat_ngram_size",
    initial: 0,
    least: 0,
    most: mostTokens,
    isWhole: true,
  },
  repetitionPenalty: { openai: "repetition_penalty", initial: 1, least: 0.01, most: 100, isWhole: false },
  seed: { openai: "seed", initial: null, least: 0, most: Number.MAX_SAFE_INTEGER, isWhole: true },
} as const satisfies Record<NumberOptionName, NumberOption>;
