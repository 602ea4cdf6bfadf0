// tokenizer.json, which newer models have in place of vocab.json and merges.txt.
import { LoadError } from "../shared/errors.js";

interface TokenizerJson {
  model?: {
    type?: string;
    vocab?: Record<string, number>;
    /** Pairs, or as the lines of merges.txt. */
    merges?: (string | [string, string])[];
  };
}

/** The texts of vocab.json and merges.txt that say the same as `text`. */
export function splitTokenizerJson(text: string): { vocab: string; merges: string } {
  let tokenizer: TokenizerJson | null;
  try {
    tokenizer = JSON.parse(text) as TokenizerJson | null;
  } catch (error) {
    throw new LoadError("corrupt", `tokenizer.json is not valid JSON: ${String(error)}`);
  }
  const { type, vocab, merges } = tokenizer?.model ?? {};
  if (type !== "BPE" || typeof vocab !== "object" || !Array.isArray(merges)) {
    throw new LoadError(
      "unsupported",
      `tokenizer.json has a model of the type ${JSON.stringify(type ?? null)}, expected "BPE" with "vocab" and "merges"`,
    );
  }
  const lines = merges.map((pair) => (Array.isArray(pair) ? pair.join(" ") : pair));
  return { vocab: JSON.stringify(vocab), merges: `#version: 0.2\n${lines.join("\n")}\n` };
}
