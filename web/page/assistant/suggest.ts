// Asking the model for three ways to go on, in one pass.
import type { GenerateOptions, Model, Token } from "../../src/client/index.js";
import { splitPieces, piecesOf, textOf, type Piece } from "../document/pieces.js";
import { suggestedLength } from "./words.js";
import { withSpecialTokens } from "./special-tokens.js";

export const suggestionCount = 3;
/** Tokens of each: a few words. */
const tokensOfEach = 8;
/** Passes at most, where the model is so sure of itself that two of three are the same. */
const mostPasses = 3;

type Item = readonly Piece[];

/** Of `found`, those that say something that `items` do not: one that another goes on from says nothing more than that. */
function addNew(items: Map<string, Item>, found: readonly Item[]): void {
  for (const item of found) {
    const key = textOf(item).trim();
    const isSaid = [...items.keys()].some((other) => other.startsWith(key) || key.startsWith(other));
    if (items.size < suggestionCount && !isSaid && key !== "") items.set(key, item);
  }
}

/** What there is to suggest of what the model wrote, which goes on where it `isCutOff`. */
function itemOf(tokens: readonly Token[], isCutOff: boolean): Item {
  const pieces = piecesOf(tokens);
  return splitPieces(pieces, suggestedLength(textOf(pieces), isCutOff))[0];
}

/** As `itemOf` of what the model is still writing: only words that are whole. */
function beginningOf(tokens: readonly Token[]): Item {
  const item = itemOf(tokens, true);
  return textOf(item).length < textOf(piecesOf(tokens)).length ? item : [];
}

/**
 * Calls `found` with the suggestions after `text`: while they grow, from when each has a word, and complete after one
 * pass. If some were equal, it then calls it with others in addition.
 */
export async function askForSuggestions(
  model: Model,
  text: string,
  sampling: GenerateOptions,
  signal: AbortSignal,
  found: (items: readonly Item[], isGrowing: boolean) => void,
): Promise<void> {
  const items = new Map<string, Item>();
  for (let pass = 0; pass < mostPasses && items.size < suggestionCount; pass += 1) {
    const run = model.generate(text, {
      ...withSpecialTokens,
      ...sampling,
      // What is always the same at the visitor's temperature is asked for at a higher one.
      ...(pass > 0 && { temperature: Math.max(sampling.temperature ?? 0.8, 0.8) + pass * 0.4, topP: 1 }),
      ...(sampling.seed !== undefined && { seed: sampling.seed + pass * suggestionCount }),
      n: suggestionCount,
      maxNewTokens: tokensOfEach,
      heal: model.info.hasTokenizer, // in the middle of a word, that word
      signal,
    });
    const written: Token[][] = Array.from({ length: suggestionCount }, () => []);
    let shown = 0; // words' characters
    let next = await run.next();
    for (; !next.done; next = await run.next()) {
      written[next.value.index]?.push(next.value);
      if (pass > 0) continue; // beside those that are there, they come as a whole
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
