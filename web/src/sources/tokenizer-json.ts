// tokenizer.json, which newer models have in place of vocab.json and merges.txt.
import { LoadError } from "../shared/errors.js";
import { shown } from "../shared/refuse.js";

interface TokenizerModel {
  type?: unknown;
  vocab?: unknown;
  merges?: unknown;
}

const isVocabulary = (vocab: unknown): vocab is Record<string, number> =>
  typeof vocab === "object" &&
  vocab !== null &&
  !Array.isArray(vocab) &&
  Object.values(vocab).every((id) => typeof id === "number");

const isText = (value: unknown): value is string => typeof value === "string";

/** The line of merges.txt that says the same as `merge`, a pair or such a line; undefined of anything else. */
function lineOf(merge: unknown): string | undefined {
  if (isText(merge)) return merge;
  return Array.isArray(merge) && merge.length === 2 && merge.every(isText) ? merge.join(" ") : undefined;
}

/** The texts of vocab.json and merges.txt that say the same as `text`. */
export function splitTokenizerJson(text: string): { vocab: string; merges: string } {
  let tokenizer: { model?: TokenizerModel | null } | null;
  try {
    tokenizer = JSON.parse(text) as typeof tokenizer;
  } catch (error) {
    throw new LoadError("corrupt", `tokenizer.json is not valid JSON: ${String(error)}`);
  }
  const { type, vocab, merges } = tokenizer?.model ?? {};
  if (type !== "BPE" || !vocab || !Array.isArray(merges)) {
    throw new LoadError(
      "unsupported",
      `tokenizer.json has a model of the type ${shown(type ?? null)}, expected "BPE" with "vocab" and "merges"`,
    );
  }
  const lines = merges.map(lineOf);
  if (!isVocabulary(vocab) || lines.includes(undefined)) {
    throw new LoadError(
      "corrupt",
      'tokenizer.json: expected a number for each token in "vocab", and pairs of texts in "merges"',
    );
  }
  return { vocab: JSON.stringify(vocab), merges: `#version: 0.2\n${lines.join("\n")}\n` };
}
