// Scoring a text with the model, and finding where in it each of its tokens is.
import type { Range } from "@codemirror/state";
import type { Model } from "../../src/client/index.js";
import { Scored } from "./scored.js";

/** What stands for bytes that are no whole character. */
const broken = "\ufffd";
/** Tokens that one character, of four bytes, may be cut into. */
const mostOfCharacter = 8;

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
  const ranges: Range<Scored>[] = [];
  let place = 0;
  for (let first = 0; first < tokens.length;) {
    let count = 1;
    let piece = tokens[first]?.text ?? "";
    // Characters that are cut are put together of their tokens.
    while (piece.includes(broken) && !text.startsWith(piece, place) && count < mostOfCharacter) {
      count += 1;
      piece = await model.detokenize(
        tokens.slice(first, first + count).map(({ id }) => id),
        { signal },
      );
    }
    const parts = tokens.slice(first, first + count);
    const logprobs = parts.map(({ logprob }) => logprob);
    const sum = logprobs.includes(null) ? null : logprobs.reduce<number>((all, each) => all + (each ?? 0), 0);
    const ids = parts.map(({ id }) => id);
    if (piece !== "") ranges.push(new Scored(ids, sum, first).range(place, place + piece.length));
    place += piece.length;
    first += count;
  }
  return ranges;
}
