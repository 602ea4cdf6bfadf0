// Requests three possible continuations from the model in one pass.
import type { GenerateOptions, Model, Token } from "../../src/client/index.js";
import { splitPieces, piecesOf, textOf, type Piece } from "../document/pieces.js";
import { suggestedLength } from "./words.js";
import { withSpecialTokens } from "./special-tokens.js";

export const suggestionCount = 3;
/** Tokens per suggestion: a few words. */
const tokensOfEach = 8;
/** The most passes, if the model is so certain that two of three suggestions are the same. */
const mostPasses = 3;

type Item = readonly Piece[];

/** Adds those of `found` that are new: not in `items`, and not the start of another one. */
function addNew(items: Map<string, Item>, found: readonly Item[]): void {
  for (const item of found) {
    const key = textOf(item).trim();
    const isSaid = [...items.keys()].some((other) => other.startsWith(key) || key.startsWith(other));
    if (items.size < suggestionCount && !isSaid && key !== "") items.set(key, item);
  }
}

/** The suggestion in what the model wrote. If it `isCutOff`, the last word may be incomplete. */
function itemOf(tokens: readonly Token[], isCutOff: boolean): Item {
  const pieces = piecesOf(tokens);
  return splitPieces(pieces, suggestedLength(textOf(pieces), isCutOff))[0];
}

/** As `itemOf`, for text that the model is still writing: only whole words. */
function beginningOf(tokens: readonly Token[]): Item {
  const item = itemOf(tokens, true);
  return textOf(item).length < textOf(piecesOf(tokens)).length ? item : [];
}

/**
 * Calls `found` with the suggestions after `prompt`: while they grow, once each has a word, and complete after one pass.
 * If some are equal, it then calls `found` again with further ones.
 */
export async function askForSuggestions(
  model: Model,
  prompt: string | Promise<string>,
  sampling: GenerateOptions,
  signal: AbortSignal,
  found: (items: readonly Item[], isGrowing: boolean) => void,
): Promise<void> {
  const items = new Map<string, Item>();
  const given = await prompt;
  for (let pass = 0; pass < mostPasses && items.size < suggestionCount; pass += 1) {
    const run = model.generate(given, {
      ...withSpecialTokens,
      ...sampling,
      // If the visitor's temperature always gives the same text, a higher one is used.
      ...(pass > 0 && { temperature: Math.max(sampling.temperature ?? 0.8, 0.8) + pass * 0.4, topP: 1 }),
      ...(sampling.seed !== undefined && { seed: sampling.seed + pass * suggestionCount }),
      n: suggestionCount,
      maxNewTokens: tokensOfEach,
      heal: model.info.hasTokenizer, // completes the word if the caret is in one
      signal,
    });
    const written: Token[][] = Array.from({ length: suggestionCount }, () => []);
    let shown = 0; // characters of whole words
    let next = await run.next();
    for (; !next.done; next = await run.next()) {
      written[next.value.index]?.push(next.value);
      if (pass > 0) continue; // further suggestions are shown only when complete
      const begun = written.map(beginningOf);
      const length = begun.reduce((sum, item) => sum + textOf(item).length, 0);
      if (length === shown || begun.some((item) => item.length === 0)) continue;
      shown = length;
      const distinct = new Map<string, Item>();
      addNew(distinct, begun);
      found([...distinct.values()], true);
    }
    const { finishReasons } = next.value;
    const before = items.size;
    addNew(
      items,
      written.map((tokens, index) => itemOf(tokens, finishReasons[index] === "length")),
    );
    if (items.size > before) found([...items.values()], false);
  }
}
