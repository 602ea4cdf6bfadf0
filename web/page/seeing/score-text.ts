// Scoring a text with the model, or only cutting it into its tokens.
import type { Range } from "@codemirror/state";
import type { Model } from "../../src/client/index.js";
import { cutText, tokenizeText } from "./cut.js";
import { Scored } from "./scored.js";

/** The tokens of `text` by their places in it. */
export async function scoreText(
  model: Model,
  text: string,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<Range<Scored>[]> {
  if (text === "") return [];
  const { tokens } = await model.score(text, {
    signal,
    onProgress: ({ done, total }) => onProgress(total > 0 ? done / total : 1),
  });
  const cut = await cutText(model, text, tokens, signal);
  return cut.map(({ ids, first, from, to }) => {
    const logprobs = tokens.slice(first, first + ids.length).map(({ logprob }) => logprob);
    const sum = logprobs.includes(null) ? null : logprobs.reduce<number>((all, each) => all + (each ?? 0), 0);
    return new Scored(ids, sum, first).range(from, to);
  });
}

/** As `scoreText`, without what the model thinks of them: that takes no time. */
export async function readTokens(model: Model, text: string, signal: AbortSignal): Promise<Range<Scored>[]> {
  if (text === "") return [];
  const cut = await tokenizeText(model, text, signal);
  return cut.map(({ ids, first, from, to }) => new Scored(ids, null, first).range(from, to));
}
