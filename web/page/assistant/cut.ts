// Finds the place of each token in a text.
import type { Model } from "../../src/client/index.js";
import { withSpecialTokens } from "./special-tokens.js";

/** One token, or several that together form whole characters. */
export interface CutToken {
  ids: readonly number[];
  /** Number of tokens before it. */
  first: number;
  /** Its place in the text. */
  from: number;
  to: number;
}

/**
 * Tokenizes `text` into tokens without gaps. Tokens that split a character are joined. Spaces that the tokenizer drops belong to the
 * token after them, or to the last one. Tokens that a template adds are left out.
 */
export async function tokenizeText(
  model: Pick<Model, "tokenize">,
  text: string,
  signal: AbortSignal,
): Promise<{ ids: readonly number[]; tokens: CutToken[] }> {
  if (text === "") return { ids: [], tokens: [] };
  const { ids, starts, ends } = await model.tokenize(text, { ...withSpecialTokens, places: true, signal });
  const tokens: CutToken[] = [];
  for (const [index, id] of ids.entries()) {
    const [from = 0, to = 0] = [starts[index], ends[index]];
    const last = tokens.at(-1);
    if (last && from < last.to) {
      last.ids = ids.slice(last.first, index + 1);
      last.to = Math.max(last.to, to);
    } else if (from < to) tokens.push({ ids: [id], first: index, from: last?.to ?? 0, to });
  }
  const last = tokens.at(-1);
  if (last) last.to = text.length;
  return { ids, tokens };
}
