// The tokens that a model looks at, and the text of each.
import type { Model } from "../client/index.js";
import type { ReadToken } from "./read-arguments.js";

/** The tokens in the model's context. */
export interface InspectedTokens {
  /** Token ids up to the chosen token, which is the last; at most as many as fit the context. */
  ids: readonly number[];
  /** Index of the first of them in the caller's ids. */
  first: number;
  /** The text of each of them. */
  texts: readonly string[];
  /** The text of the token after them; undefined if there is none. */
  next: string | undefined;
}

async function textsOf(
  model: Pick<Model, "info" | "detokenize">,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<string[]> {
  if (!model.info.hasTokenizer) return ids.map((id) => `#${id}`);
  const different = [...new Set(ids)];
  const texts = await Promise.all(different.map((id) => model.detokenize([id], { signal })));
  const textOf = new Map(different.map((id, index) => [id, texts[index] ?? ""]));
  return ids.map((id) => textOf.get(id) ?? "");
}

/** The token of `ids` at `position`, with those before it that fit the context of `model`. */
export async function readTokens(
  { model, ids, position, texts: given }: ReadToken,
  signal: AbortSignal,
): Promise<InspectedTokens> {
  const end = position + 1;
  const first = Math.max(0, end - model.info.config.nPositions);
  const count = end - first;
  const shown = ids.slice(first, end + 1); // including the next token
  const texts = given?.slice(first, end + 1) ?? (await textsOf(model, shown, signal));
  return { ids: shown.slice(0, count), first, texts: texts.slice(0, count), next: texts[count] };
}
