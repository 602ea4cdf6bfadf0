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
    const scores = tokens.slice(first, first + ids.length);
    // The text's first token has neither.
    const isScored = scores.every(({ logprob }) => logprob !== null);
    const sum = isScored ? scores.reduce((all, { logprob }) => all + (logprob ?? 0), 0) : null;
    const rank = isScored ? Math.max(...scores.map((score) => score.rank ?? 0)) : null;
    return new Scored(ids, sum, rank, first).range(from, to);
  });
}

/** As `scoreText`, without what the model thinks of them: that takes no time. */
export async function readTokens(model: Model, text: string, signal: AbortSignal): Promise<Range<Scored>[]> {
  if (text === "") return [];
  const cut = await tokenizeText(model, text, signal);
  return cut.map(({ ids, first, from, to }) => new Scored(ids, null, null, first).range(from, to));
}
