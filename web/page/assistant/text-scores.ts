// The model's scores of the tokens of a text. Known scores are not requested again.
import type { Range } from "@codemirror/state";
import type { Model, Score } from "../../src/client/index.js";
import type { CutToken } from "./cut.js";
import { Scored } from "../document/scored.js";

export type TokenScore = Pick<Score["tokens"][number], "logprob" | "rank">;

/**
 * The start of the window in which token `index` is scored. The windows of `model.score` overlap by half, and the first
 * token after an overlap is scored in the earlier window. The text before the window does not affect the score.
 */
export function windowOf(index: number, nPositions: number): number {
  const stride = Math.max(1, nPositions >> 1);
  return Math.max(0, Math.ceil((index - nPositions) / stride)) * stride;
}

export class TextScores {
  private model: Pick<Model, "info" | "score"> | undefined;
  private ids: readonly number[] = [];
  private readonly scores: TokenScore[] = [];

  /** The known scores, from the first token on. */
  get known(): readonly TokenScore[] {
    return this.scores;
  }

  /** Number of tokens in the text. */
  get total(): number {
    return this.ids.length;
  }

  /** Number of tokens without a score. */
  get unknown(): number {
    return this.total - this.scores.length;
  }

  get isComplete(): boolean {
    return this.unknown === 0;
  }

  /** Switches to a text of these tokens; keeps the scores up to the first token that differs. */
  begin(model: Pick<Model, "info" | "score">, ids: readonly number[]): void {
    const other = ids.findIndex((id, place) => id !== this.ids[place]);
    const same = other === -1 ? ids.length : other;
    this.scores.length = model === this.model ? Math.min(same, this.scores.length) : 0;
    this.model = model;
    this.ids = ids;
  }

  /** Scores the rest, window by window, between which other requests run. Calls `onScored` as scores arrive. */
  async complete(signal: AbortSignal, onScored: () => void): Promise<void> {
    const { model, ids, scores } = this;
    if (!model) return;
    const { nPositions } = model.info.config;
    while (scores.length < ids.length) {
      const start = windowOf(scores.length, nPositions);
      await model.score(ids.slice(start, start + nPositions + 1), {
        start: scores.length - start,
        signal,
        onProgress({ tokens }) {
          scores.push(...tokens.map(({ logprob, rank }) => ({ logprob, rank })));
          onScored();
        },
      });
      signal.throwIfAborted();
    }
  }
}

/** The tokens of `cut`, with the known scores of the text's first tokens. */
export function withScores(cut: readonly CutToken[], known: readonly TokenScore[]): Range<Scored>[] {
  return cut.map(({ ids, first, from, to }) => {
    const scores = known.slice(first, first + ids.length);
    if (scores.length < ids.length) return new Scored(ids, undefined, undefined, first).range(from, to);
    // The text's first token has no probability and rank.
    const isScored = scores.every(({ logprob }) => logprob !== null);
    const sum = isScored ? scores.reduce((all, { logprob }) => all + (logprob ?? 0), 0) : null;
    const rank = isScored ? Math.max(...scores.map((score) => score.rank ?? 0)) : null;
    return new Scored(ids, sum, rank, first).range(from, to);
  });
}

/** The score of one token, or of several that together form whole characters, after `context`. */
export async function scoreToken(
  model: Pick<Model, "score">,
  context: readonly number[],
  { ids, index }: Scored,
  signal: AbortSignal,
): Promise<Scored> {
  const { tokens, logprob } = await model.score([...context, ...ids], { start: context.length, signal });
  return new Scored(ids, logprob, Math.max(...tokens.map(({ rank }) => rank ?? 0)), index);
}
