// What the self-test runs: small models whose shapes exercise each kernel of the engine, including the ends of rows.
import { vocabSize, type Shape } from "./tiny-model.js";

export interface Case {
  /** Names the failing case in the report. */
  name: string;
  shape: Shape;
  weights: "q8" | "q4" | "f32";
  kv: "q8" | "f32";
}

/** `even` has rows of whole vectors and groups; `odd` has neither. */
const even: Shape = { nEmbd: 96, nHead: 3, activation: "gelu_new", isTied: true, seed: 1 };
const odd: Shape = { nEmbd: 45, nHead: 3, activation: "gelu", isTied: false, seed: 2 };

export const cases: readonly Case[] = [
  { name: "arithmetic in 8 bits", shape: even, weights: "q8", kv: "q8" },
  { name: "arithmetic in 4 bits", shape: even, weights: "q4", kv: "q8" },
  { name: "arithmetic in 8 bits, odd sizes", shape: odd, weights: "q8", kv: "f32" },
  { name: "arithmetic in floats, odd sizes", shape: odd, weights: "f32", kv: "f32" },
];

/** Longer than two batches of the prefill, and not a multiple of a batch, vector or group. */
export const promptIds: readonly number[] = Array.from(
  { length: 147 },
  (_, place) => (place * 7919 + 13) % (vocabSize - 1),
);

/** Three alternatives over all tokens: each drawn token depends on every probability. */
export const options = {
  maxNewTokens: 24,
  temperature: 1,
  topK: 0,
  topP: 1,
  n: 3,
  seed: 11,
  ignoreEos: true,
} as const;

/** Texts that tokenizers often get wrong. */
export const texts: readonly string[] = [
  "Once upon a time, there wasn't anything. The end's near!",
  "  two spaces,\ttab\n\n\nlines\r\n and an end   ",
  "1984 and 3.14159, ½ Ⅷ ٣",
  "naïve café, Ελληνικά, Русский, 日本語, हिन्दी",
  "🍓👩‍👩‍👧‍👦🇩🇪 e\u0301 \u00a0\u3000\u200b",
  "I'LL 're we’ve ''s \u0000\u007f <|endoftext|>",
];

/** The bits of what was written: ids, and log-probabilities as the 32-bit words of the floats. */
export function bitsOf(
  continuations: readonly { ids: readonly number[]; logprobs: readonly number[] }[],
): string {
  return continuations
    .map(({ ids, logprobs }) => {
      const bits = new Uint32Array(new Float32Array(logprobs).buffer);
      return ids.map((id, place) => `${id}:${bits[place]?.toString(16)}`).join(" ");
    })
    .join("\n");
}
