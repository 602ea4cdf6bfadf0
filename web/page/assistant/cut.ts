// Finds the place of each token in a text.
import type { Model } from "../../src/client/index.js";
import { withSpecialTokens } from "./special-tokens.js";

/** Replaces bytes that are not a whole character. */
const broken = "\ufffd";
/** The most tokens of one character: each has at least one of its four bytes. */
const mostTokensOfCharacter = 4;
/** Tokens per request: some milliseconds of the worker's time, and of the page's. */
const mostAtOnce = 10_000;

/** The parts of a model that reading a text needs. */
export type Reader = Pick<Model, "detokenize"> & { info: { config: { eosTokenId: number | null } } };

/** One token, or several that together form whole characters. */
export interface CutToken {
  ids: readonly number[];
  /** Number of tokens before it. */
  first: number;
  /** Its place in the text. */
  from: number;
  to: number;
}

/** The text of each of `sequences`, in few requests: the model's end-of-text token separates them. */
export async function decodeAll(
  model: Reader,
  sequences: readonly (readonly number[])[],
  signal: AbortSignal,
): Promise<string[]> {
  const alone = (some: typeof sequences) =>
    Promise.all(some.map((ids) => model.detokenize([...ids], { signal })));
  const end = model.info.config.eosTokenId;
  if (end === null || sequences.length < 2) return alone(sequences);
  const endText = await model.detokenize([end], { signal });
  const texts: string[] = [];
  for (let next = 0; next < sequences.length;) {
    const begin = next;
    const ids: number[] = [];
    while (next < sequences.length && (next === begin || ids.length < mostAtOnce)) {
      ids.push(...(sequences[next++] ?? []), end);
    }
    const some = sequences.slice(begin, next);
    const pieces = (await model.detokenize(ids, { signal })).split(endText).slice(0, -1);
    // A sequence that contains the end-of-text token is split there, too, so such sequences are decoded one by one.
    texts.push(...(pieces.length === some.length ? pieces : await alone(some)));
  }
  return texts;
}

const keyOf = (ids: readonly number[]) => ids.join();

/** The texts of every short run of tokens that starts with an incomplete character, by the ids of the run. */
async function decodeBroken(
  model: Reader,
  tokens: readonly { id: number; text: string }[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const sequences = new Map<string, readonly number[]>();
  for (const [first, { text }] of tokens.entries()) {
    if (!text.includes(broken)) continue;
    for (let count = 2; count <= mostTokensOfCharacter && first + count <= tokens.length; ++count) {
      const ids = tokens.slice(first, first + count).map(({ id }) => id);
      sequences.set(keyOf(ids), ids);
    }
  }
  const texts = await decodeAll(model, [...sequences.values()], signal);
  return new Map([...sequences.keys()].map((key, place) => [key, texts[place] ?? ""]));
}

/** The tokens of `text` with their places. Tokens that split a character are joined. */
export async function cutText(
  model: Reader,
  text: string,
  tokens: readonly { id: number; text: string }[],
  signal: AbortSignal,
): Promise<CutToken[]> {
  const decoded = await decodeBroken(model, tokens, signal);
  const whole = text.replace(/\p{Cs}/gu, broken); // as the model reads lone surrogates
  const cut: CutToken[] = [];
  let from = 0;
  for (let first = 0; first < tokens.length;) {
    let ids = [tokens[first]?.id ?? 0];
    let piece = tokens[first]?.text ?? "";
    while (piece.includes(broken) && !whole.startsWith(piece, from)) {
      const next = tokens[first + ids.length];
      if (!next || ids.length >= 2 * mostTokensOfCharacter) break;
      ids = [...ids, next.id];
      // Longer groups are rare: tokens that end one character and begin another.
      piece = decoded.get(keyOf(ids)) ?? (await model.detokenize(ids, { signal }));
    }
    const to = from + piece.length;
    if (to > from) cut.push({ ids, first, from, to });
    from = to;
    first += ids.length;
  }
  return cut;
}

/** Tokenizes `text` and returns the tokens as `cutText` does. */
export async function tokenizeText(
  model: Reader & Pick<Model, "tokenize">,
  text: string,
  signal: AbortSignal,
): Promise<{ ids: readonly number[]; tokens: CutToken[] }> {
  if (text === "") return { ids: [], tokens: [] };
  const ids = await model.tokenize(text, { ...withSpecialTokens, signal });
  const different = [...new Set(ids)];
  const texts = await decodeAll(
    model,
    different.map((id) => [id]),
    signal,
  );
  const textOf = new Map(different.map((id, place) => [id, texts[place] ?? ""]));
  const given = ids.map((id) => ({ id, text: textOf.get(id) ?? "" }));
  return { ids, tokens: await cutText(model, text, given, signal) };
}
