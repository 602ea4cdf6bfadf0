// What the model thinks of the tokens of a text. What is known of them already is not asked for again.
import type { Range } from "@codemirror/state";
import type { Model, Score } from "../../src/client/index.js";
import type { CutToken } from "./cut.js";
import { Scored } from "../document/scored.js";

export type TokenScore = Pick<Score["tokens"][number], "logprob" | "rank">;

/**
 * Where the window begins in which token `index` is scored. The windows of `model.score` overlap by half, and the token
 * after an overlap is scored in it, too. What stands before the window has no part in the score.
 */
export function windowOf(index: number, nPositions: number): number {
  const stride = Math.max(1, nPositions >> 1);
  return Math.max(0, Math.ceil((index - nPositions) / stride)) * stride;
}

export class TextScores {
  private model: Pick<Model, "info" | "score"> | undefined;
  private ids: readonly number[] = [];
  private readonly scores: TokenScore[] = [];

  /** Of the first tokens of the text. */
  get known(): readonly TokenScore[] {
    return this.scores;
  }

  /** Tokens of the text. */
  get total(): number {
    return this.ids.length;
  }

  /** Tokens behind those. */
  get unknown(): number {
    return this.total - this.scores.length;
  }

  get isComplete(): boolean {
    return this.unknown === 0;
  }

  /** Goes on with a text of these tokens: of the one before, the scores up to the first other token stay. */
  begin(model: Pick<Model, "info" | "score">, ids: readonly number[]): void {
    const other = ids.findIndex((id, place) => id !== this.ids[place]);
    const same = other === -1 ? ids.length : other;
    this.scores.length = model === this.model ? Math.min(same, this.scores.length) : 0;
    this.model = model;
    this.ids = ids;
  }

  /** Scores the rest, window by window, between which others ask the model; calls `onScored` as the scores come. */
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

/** The tokens of `cut`, with what is known of the first of the text. */
export function withScores(cut: readonly CutToken[], known: readonly TokenScore[]): Range<Scored>[] {
  return cut.map(({ ids, first, from, to }) => {
    const scores = known.slice(first, first + ids.length);
    if (scores.length < ids.length) return new Scored(ids, undefined, undefined, first).range(from, to);
    // The text's first token has neither.
    const isScored = scores.every(({ logprob }) => logprob !== null);
    const sum = isScored ? scores.reduce((all, { logprob }) => all + (logprob ?? 0), 0) : null;
    const rank = isScored ? Math.max(...scores.map((score) => score.rank ?? 0)) : null;
    return new Scored(ids, sum, rank, first).range(from, to);
  });
}
