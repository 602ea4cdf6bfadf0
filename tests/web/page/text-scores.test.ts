// The tokens of a text that a model must score, and those whose scores are reused.
import { expect, it } from "vitest";
import type { Model, ScoreProgress } from "../../../web/src/client/index.js";
import { TextScores, withScores } from "../../../web/page/assistant/text-scores.js";

const never = new AbortController().signal;
const upTo = (length: number) => Array.from({ length }, (_, id) => id);

interface ScoreCall {
  start: number;
  signal: AbortSignal;
  onProgress: (progress: ScoreProgress) => void;
}

/** The score of a token is made of its id and the number of tokens before it in the window. Reports two at a time. */
function make(nPositions: number) {
  const asked: { ids: number[]; start: number }[] = [];
  let stopAfter = Infinity;
  const model = {
    info: { config: { nPositions } },
    score: async (given: ArrayLike<number>, { start, signal, onProgress }: ScoreCall) => {
      const ids = Array.from(given);
      asked.push({ ids, start });
      const all = ids.map((id, place) => {
        const [logprob, rank] = place === 0 ? [null, null] : [-id - place / 1000, place];
        return { id, text: "", logprob, rank };
      });
      for (let done = start; done < all.length; done += 2) {
        if (done >= stopAfter) throw new Error("stopped");
        signal.throwIfAborted();
        onProgress({ done, total: all.length, tokens: all.slice(done, done + 2) });
      }
    },
  } as unknown as Pick<Model, "info" | "score">;
  return { model, asked, stopAfter: (tokens: number) => (stopAfter = tokens) };
}

/** The number of tokens before a token in the window that scores it, as in the engine: windows of `size` overlap by half. */
function beforeOf(index: number, size: number): number | null {
  if (index === 0) return null;
  let start = 0;
  while (start + size < index) start += Math.max(1, size >> 1);
  return index - start;
}

async function scoresOf(model: Pick<Model, "info" | "score">, ids: readonly number[], scores: TextScores) {
  scores.begin(model, ids);
  await scores.complete(never, () => {});
  return scores.known.map(({ rank }) => rank);
}

const sizesOfBoth = ["2 9", "3 10", "8 5", "8 8", "8 9", "8 31", "9 40"];
it.each(sizesOfBoth)("the scores equal the engine's for the sizes of window and text %s", async (sizes) => {
  const [size = 0, length = 0] = sizes.split(" ").map(Number);
  const scores = new TextScores();
  const ids = upTo(length);
  expect(await scoresOf(make(size).model, ids, scores)).toEqual(ids.map((index) => beforeOf(index, size)));
  expect(scores.isComplete).toBe(true);
});

it("unchanged scores are not computed again, including those after an edit beyond the context", async () => {
  const { model, asked } = make(8);
  const scores = new TextScores();
  const ids = upTo(40);
  await scoresOf(model, ids, scores);
  expect(asked.length).toBe(9);
  await scoresOf(model, ids, scores);
  expect(asked.length).toBe(9);

  const edited = [...ids.slice(0, 38), 77, 78, 79, 80];
  const ranks = await scoresOf(model, edited, scores);
  expect(asked.slice(9)).toEqual([
    { ids: edited.slice(32, 41), start: 6 },
    { ids: edited.slice(36, 42), start: 5 },
  ]);
  expect(ranks).toEqual(edited.map((_, index) => beforeOf(index, 8)));
  expect(scores.known[38]?.logprob).toBe(-77 - 6 / 1000);

  await scoresOf(model, ids.slice(0, 20), scores); // the end was taken away
  expect(asked.length).toBe(11);
  expect(scores.known.length).toBe(20);
});

it("another model has its own scores", async () => {
  const [one, other] = [make(8), make(8)];
  const scores = new TextScores();
  await scoresOf(one.model, upTo(5), scores);
  await scoresOf(other.model, upTo(5), scores);
  expect(other.asked).toEqual([{ ids: upTo(5), start: 0 }]);
});

it("an interrupted scoring keeps its scores and continues from there", async () => {
  const { model, asked, stopAfter } = make(8);
  const scores = new TextScores();
  scores.begin(model, upTo(20));
  stopAfter(6);
  await expect(scores.complete(never, () => {})).rejects.toThrow("stopped");
  expect(scores.known.length).toBe(6);
  expect(scores.isComplete).toBe(false);
  stopAfter(Infinity);
  await scores.complete(never, () => {});
  expect(scores.known.map(({ rank }) => rank)).toEqual(upTo(20).map((index) => beforeOf(index, 8)));
  expect(asked.slice(0, 2)).toEqual([
    { ids: upTo(9), start: 0 },
    { ids: upTo(9), start: 6 },
  ]);
  scores.begin(model, upTo(21));
  await expect(scores.complete(AbortSignal.abort(new Error("enough")), () => {})).rejects.toThrow("enough");
  expect(scores.known.length).toBe(20);
});

it("withScores adds the scores of a character's tokens, and leaves a character with unknown scores open", () => {
  const known = [
    { logprob: null, rank: null },
    { logprob: -1, rank: 3 },
    { logprob: -2, rank: 9 },
    { logprob: -4, rank: 2 },
  ];
  const cut = [
    { ids: [5], first: 0, from: 0, to: 4 },
    { ids: [6, 7], first: 1, from: 4, to: 5 },
    { ids: [8, 9], first: 3, from: 5, to: 6 },
  ];
  const found = withScores(cut, known).map(
    ({ from, to, value }) => `${from}-${to} #${value.index} ${value.logprob} rank ${value.rank}`,
  );
  expect(found).toEqual(["0-4 #0 null rank null", "4-5 #1 -3 rank 9", "5-6 #3 undefined rank undefined"]);
});
