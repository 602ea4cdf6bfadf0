// Checks the arguments of `update`, and finds the text of each token.
import type { Model, TokenIds } from "../client/index.js";
import { describeValue, readCount, refuse } from "../shared/refuse.js";

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

/** Index of the chosen token; throws if `ids` and `position` name none. */
function readPosition(ids: unknown, position: unknown): number {
  if (!Array.isArray(ids) && !ArrayBuffer.isView(ids))
    return refuse(`ids is ${describeValue(ids)}, expected token ids`);
  const { length } = ids as ArrayLike<unknown>;
  if (length === 0) return refuse("ids is empty, expected at least one token id");
  return readCount("position", position ?? undefined, 0, length - 1) ?? length - 1;
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
  model: Pick<Model, "info" | "detokenize">,
  ids: TokenIds,
  position: number | null | undefined,
  given: readonly string[] | null | undefined,
  signal: AbortSignal,
): Promise<InspectedTokens> {
  const last = readPosition(ids, position);
  if (given && given.length !== ids.length)
    refuse(`texts has ${given.length} texts for ${ids.length} ids, expected one for each id`);
  const first = Math.max(0, last + 1 - model.info.config.nPositions);
  const count = last + 1 - first;
  const shown = Array.from(ids, Number).slice(first, last + 2); // including the next token
  const texts = given?.slice(first, last + 2) ?? (await textsOf(model, shown, signal));
  return { ids: shown.slice(0, count), first, texts: texts.slice(0, count), next: texts[count] };
}
