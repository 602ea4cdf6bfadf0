// Three suggestions: the shown words while the model writes them, and at the end.
import { expect, it, vi } from "vitest";
import type { GenerateCall, Model, Token } from "../../../web/src/client/index.js";
import { textOf } from "../../../web/page/document/pieces.js";
import { askForSuggestions } from "../../../web/page/assistant/suggest.js";

/** The tokens of each continuation, which | divides. */
const tokens = (...continuations: string[]) => continuations.map((text) => text.split("|"));

/** Writes `passes[i]` at the i-th call: the tokens of each continuation, and how each ended. */
function makeModel(...passes: { texts: string[][]; ends?: ("length" | "eos")[] }[]) {
  const calls: GenerateCall[] = [];
  const generate = vi.fn(async function* (_text: string, call: GenerateCall) {
    const { texts, ends = [] } = passes[calls.push(call) - 1] ?? { texts: [] };
    for (let step = 0; texts.some((words) => step < words.length); step += 1)
      for (const [index, words] of texts.entries()) {
        const text = words[step];
        if (text !== undefined) yield { index, id: step, text, logprob: -1, rank: 1 } satisfies Token;
      }
    return { finishReasons: texts.map((_, index) => ends[index] ?? "length") };
  });
  return { calls, model: { generate, info: { hasTokenizer: true } } as unknown as Model };
}

/** What is shown, time after time: the suggestions, with "…" while they grow. */
async function ask(model: Model, options: { seed?: number } = {}) {
  const shown: string[] = [];
  const { signal } = new AbortController();
  await askForSuggestions(model, "Once", options, signal, (items, isGrowing) =>
    shown.push(items.map(textOf).join("|") + (isGrowing ? "…" : "")),
  );
  return shown;
}

it("suggestions are shown once each has a whole word, grow by words, and end with whole words", async () => {
  const { model } = makeModel({ texts: tokens(" a| big| red", " st|rawb|erry", " the| end|.\n") });
  expect(await ask(model)).toEqual([" a big| strawberry| the end."]); // the second had no end before
  const early = makeModel({ texts: tokens(" a| big| red| dog", " st|raw| and| hay", " the| end|.|\n") });
  expect(await ask(early.model)).toEqual([
    " a big| straw| the…",
    " a big| straw| the end…",
    " a big red| straw| the end…",
    " a big red| straw and| the end…",
    " a big red| straw and| the end.…",
    " a big red| straw and| the end.",
  ]);
});

it("if two suggestions are the same, new ones are requested, which arrive complete", async () => {
  const { model, calls } = makeModel(
    { texts: tokens(" a| dog", " a| dog", " the"), ends: ["eos", "eos", "eos"] },
    { texts: tokens(" one| day|.", " a| dog| ran", " at| last| he") },
  );
  const shown = await ask(model, { seed: 7 });
  expect(shown.filter((each) => !each.endsWith("…"))).toEqual([" a dog| the", " a dog| the| one day"]);
  expect(shown.at(-1)).toBe(" a dog| the| one day");
  expect(calls.map(({ seed, n, heal, allowSpecial }) => ({ seed, n, heal, allowSpecial }))).toEqual([
    { seed: 7, n: 3, heal: true, allowSpecial: true },
    { seed: 10, n: 3, heal: true, allowSpecial: true },
  ]);
  expect(calls[1]?.temperature).toBeGreaterThan(0.8);
});

it("there are no suggestions if the model writes no text", async () => {
  const { model, calls } = makeModel({ texts: [[], [], []], ends: ["eos", "eos", "eos"] });
  expect(await ask(model)).toEqual([]);
  expect(calls).toHaveLength(3);
});
