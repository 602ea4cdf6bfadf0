// Compares what the model reads with a definition that tries every beginning of the text.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type {
  GenerateCall,
  GenerateSummary,
  Model,
  Token,
  TokenizedText,
} from "../../../web/src/client/index.js";
import {
  compose,
  leftOutOf,
  placeOfNote,
  promptOf,
  withFields,
} from "../../../web/page/assistant/compose.js";
import {
  continueWith,
  generateWithFields,
  withOneSpace,
} from "../../../web/page/assistant/generate-with-fields.js";
import { untilStop } from "../../../web/page/assistant/until-stop.js";

const never = new AbortController().signal;

/** Cuts a word into tokens of three letters, with the space before it: the end of a text may be cut in another way. */
const cut = (text: string) => text.match(/ ?[^\s]{1,3}|\s/g) ?? [];

/** What `model.tokenize` returns for a text of these tokens. */
function placesOf(tokens: readonly string[], idOf: (token: string) => number): TokenizedText {
  const ends = tokens.map((_, index) => tokens.slice(0, index + 1).join("").length);
  return {
    ids: tokens.map(idOf),
    starts: ends.map((end, index) => end - (tokens[index]?.length ?? 0)),
    ends,
  };
}

const token: Token = { index: 0, id: 0, text: "", logprob: 0, rank: 1 };

/** Length of the end of `text` with which a stop string could begin. */
const begun = (text: string, stop: string) =>
  Math.max(...Array.from(stop, (_, length) => (text.endsWith(stop.slice(0, length)) ? length : 0)));

/**
 * Reads and writes those tokens; writes `answer` over and over, token by token. Like the engine, it holds text back while the stop
 * string could begin with it.
 */
function make(nPositions: number, answer: readonly string[] = [" so"]) {
  const texts: string[] = [];
  const asked: { prompt: string; call: GenerateCall }[] = [];
  let count = 0;
  const idOf = (text: string) => {
    if (!texts.includes(text)) texts.push(text);
    return texts.indexOf(text);
  };
  async function* generate(prompt: string, call: GenerateCall): AsyncGenerator<Token, void, void> {
    asked.push({ prompt, call });
    const most = call.maxNewTokens ?? 0;
    const [stop = "\0"] = call.stop ?? [];
    let unshown = "";
    let finishReason = "length";
    for (let place = 1; place <= most && finishReason === "length"; ++place) {
      const next = answer[count++ % answer.length] ?? "";
      unshown += next;
      if (unshown.includes(stop)) finishReason = "stop";
      const isLast = place === most || finishReason === "stop";
      const held = isLast ? 0 : begun(unshown, stop);
      const text = unshown.slice(0, unshown.length - held).split(stop)[0] ?? "";
      unshown = unshown.slice(unshown.length - held);
      yield { index: 0, id: idOf(next), text, logprob: 0, rank: 1 };
      await Promise.resolve();
    }
    call.onSummary?.({ droppedTokens: 0, finishReason } as unknown as GenerateSummary);
  }
  const model = {
    info: { config: { nPositions }, defaults: { maxNewTokens: 20 } },
    tokenize: (text: string) => Promise.resolve(placesOf(cut(text), idOf)),
    generate,
  } as unknown as Model;
  return { model, asked };
}

const words = fc.stringMatching(
  /^([A-Z][a-z]{0,6}( [a-z]{1,7}){0,6}[.!?]["”]?( |\n|\n\n)){0,30}[A-Z]?[a-z ]{0,9}$/,
);
const field = fc.oneof(fc.constant(""), fc.stringMatching(/^[A-Z][a-z ]{0,30}\.$/));

describe("the prompt", () => {
  it.each([
    ["One. Two. Three. Four", "Max talks.\nOne.\nIt is dark.\nTwo. Three. Four"],
    ["One. “Two!” Three. Four.\n", "Max talks.\nOne.\nIt is dark.\n“Two!” Three. Four.\n"],
    ["One\nTwo\n\nThree\nFour", "Max talks.\nOne\nIt is dark.\nTwo\n\nThree\nFour"],
    ["One? Two! Three… Four", "Max talks.\nOne?\nIt is dark.\nTwo! Three… Four"],
    ["One. Two", "Max talks.\nIt is dark.\nOne. Two"],
    ["", "Max talks.\nIt is dark.\n"],
  ])("begins with Always remember, and has the note before the last three sentences: %j", (text, prompt) => {
    expect(withFields(text, { remember: " Max talks. ", note: "It is dark." })).toBe(prompt);
    expect(withFields(text, { remember: "", note: " " })).toBe(text);
  });

  it("has as much of the text's end as fits, and drops the beginning in steps", async () => {
    await fc.assert(
      fc.asyncProperty(
        words,
        field,
        field,
        fc.integer({ min: 64, max: 200 }),
        async (text, remember, note, most) => {
          const fields = { remember, note };
          const { model } = make(most);
          const found = await compose(model, text, fields, never);
          const capacity = most - Math.floor(most / 8);
          const own = cut(withFields("", fields)).length;
          const room = capacity - own;
          const step = room - Math.floor((room * 3) / 4);
          const all = cut(text);
          // Tries every step: the first one that leaves room for some words is right.
          let left = 0;
          let end = text;
          const doesFit = () =>
            all.length - left <= room - (left > 0 ? Math.floor(step / 8) : 0) &&
            cut(withFields(end, fields)).length <= capacity;
          while (!doesFit()) {
            left += step;
            end = all.slice(left).join("").trimStart();
          }
          const prompt = withFields(end, fields);
          expect(found).toMatchObject({ leftOut: left, prompt, tokens: cut(prompt).length });
          expect(text.slice(found.from)).toBe(end);
          expect(found.noteAt).toBe(found.from + placeOfNote(end));
        },
      ),
    );
  });

  it("is the whole text if there are no fields; the engine drops quarters of its window", async () => {
    const { model } = make(16);
    const text = "ab ".repeat(20);
    expect(await promptOf(model, text, undefined, never)).toBe(text);
    const { tokens, leftOut, from } = await compose(model, text, undefined, never);
    expect([leftOutOf(16, 16), leftOutOf(17, 16), leftOutOf(21, 16)]).toEqual([0, 4, 8]);
    expect(leftOut).toBe(leftOutOf(cut(text).length, 16));
    expect(tokens).toBe(cut(text).length - leftOut);
    expect(text.slice(from)).toBe(cut(text).slice(leftOut).join(""));
  });

  it("is refused if the fields take more than half of the window, and the error says how much fits", async () => {
    const { model } = make(16);
    const fields = { remember: "a b c d e f g h", note: "" };
    await expect(compose(model, "x", fields, never)).rejects.toThrow(
      "have 9 tokens together, but this model has room for 8",
    );
  });
});

describe("writing with fields", () => {
  const fields = { remember: "Max talks.", note: "It is dark." };

  async function write(maxNewTokens: number, answer?: readonly string[], more: Partial<GenerateCall> = {}) {
    const { model, asked } = make(64, answer);
    const summaries: GenerateSummary[] = [];
    const onSummary = (summary: GenerateSummary) => summaries.push(summary);
    const call = { maxNewTokens, seed: 7, onSummary, ...more };
    const tokens: string[] = [];
    for await (const token of generateWithFields(model, "One day", fields, call)) {
      tokens.push(token.text);
    }
    return { asked, tokens, summaries };
  }

  it("composes the context anew whenever it is full, and keeps both fields in it", async () => {
    const options = { noRepeatNgramSize: 3 }; // which the engine applies to the prompt
    const answer = [" go", " on", ".", " He", " ran"];
    const { asked, tokens, summaries } = await write(200, answer, options);
    expect(tokens).toHaveLength(200);
    expect(asked.length).toBeGreaterThan(3);
    let written = 0;
    for (const [turn, { prompt, call }] of asked.entries()) {
      expect(prompt).toMatch(/^Max talks\.\n(.*\n)?It is dark\.\n/);
      expect(cut(prompt).length).toBeLessThanOrEqual(56);
      expect(call).toMatchObject({ seed: 7 + turn, ...options });
      expect(call.maxNewTokens).toBe(Math.min(200 - written, 64 - cut(prompt).length));
      const text = `One day${tokens.slice(0, written).join("")}`;
      expect(text.endsWith(prompt.split("\n").at(-1) ?? "none")).toBe(true);
      written += 64 - cut(prompt).length;
    }
    expect(summaries).toHaveLength(1);
    expect(summaries[0]?.droppedTokens).toBeGreaterThan(100);
    const once = await write(20);
    expect([once.asked.length, once.summaries[0]?.droppedTokens]).toEqual([1, 0]);
  });

  it("after the largest seed comes 0", async () => {
    const { asked } = await write(100, [" go"], { seed: Number.MAX_SAFE_INTEGER });
    expect(asked.slice(0, 2).map(({ call }) => call.seed)).toEqual([Number.MAX_SAFE_INTEGER, 0]);
  });

  /** Words of one token, with others from token `place` on. */
  const answerWith = (place: number, others: readonly string[]) =>
    Array.from({ length: 100 }, (_, index) => others[index - place] ?? " so");

  /** The number of tokens that the first window takes. */
  const seam = async () => (await write(100)).asked[0]?.call.maxNewTokens ?? 0;

  it.each([1, 2, 3])("ends at a stop string whose first %i of 4 tokens end a window", async (before) => {
    const place = (await seam()) - before;
    const answer = answerWith(place, [" a", " EN", "D", "S"]);
    const { asked, tokens, summaries } = await write(100, answer, { stop: [" a ENDS"] });
    expect(asked).toHaveLength(2);
    expect(tokens.join("")).toBe(" so".repeat(place));
    expect(tokens).toHaveLength(place + 4); // as in one window, the tokens of the stop string count
    expect(summaries.map(({ finishReason }) => finishReason)).toEqual(["stop"]);
  });

  it("loses no text if a stop string begins at the end of a window but does not go on", async () => {
    const place = (await seam()) - 2;
    const answer = answerWith(place, [" a", " EN", "D"]);
    const { tokens, summaries } = await write(100, answer, { stop: [" a ENDS"] });
    expect(tokens.join("")).toBe(answer.join(""));
    expect(tokens).toHaveLength(100);
    expect(summaries.map(({ finishReason }) => finishReason)).toEqual(["length"]);
  });

  it("ends at a stop string within a window, and at none that the prompt begins", async () => {
    const answer = answerWith(5, [" EN", "D"]);
    const { asked, tokens, summaries } = await write(100, answer, { stop: ["END"] });
    expect(asked).toHaveLength(1);
    expect(tokens.join("")).toBe(`${" so".repeat(5)} `);
    expect(summaries[0]?.finishReason).toBe("stop");
    const other = await write(10, [" so"], { stop: ["day so"] });
    expect(other.tokens.join("")).toBe(" so".repeat(10));
  });

  it("leaves half a character at the end of a window to the next one", async () => {
    const place = (await seam()) - 1;
    const { tokens } = await write(100, answerWith(place, ["\ufffd", " é"]));
    expect(tokens.join("")).toBe(answerWith(place, ["", " é"]).join(""));
  });
});

it("the stop string that is complete first counts, however the text is cut into tokens", async () => {
  const letters = (maxLength: number) =>
    fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength });
  await fc.assert(
    fc.asyncProperty(fc.array(letters(3)), fc.array(letters(3), { minLength: 1 }), async (texts, stops) => {
      const text = texts.join("");
      const ends = Array.from(text, (_, index) => text.slice(0, index + 1));
      const begun = ends.map((part) =>
        Math.max(...stops.map((stop) => (part.endsWith(stop) ? stop.length : 0))),
      );
      const at = begun.findIndex((length) => length > 0);
      async function* tokens() {
        for (const each of texts) yield await Promise.resolve({ ...token, text: each });
      }
      let shown = "";
      for await (const each of untilStop(tokens(), stops)) shown += each.text;
      expect(shown).toBe(at === -1 ? text : text.slice(0, at + 1 - (begun[at] ?? 0)));
    }),
  );
});

it("the model reads one of several spaces at the end of a line", () => {
  const texts = ["One  ", "One ", "One\n  ", "  "];
  expect(texts.map(withOneSpace)).toEqual(["One ", "One ", "One\n  ", "  "]);
});

it("an ignored end of the text begins a paragraph, and no control word is in the text", async () => {
  const end = 50;
  const texts = [" a", end, end, "b", "\n\n", end, "c", end, " d"];
  const generate = async function* (): AsyncGenerator<Token> {
    for (const each of texts) {
      const isEnd = each === end;
      yield await Promise.resolve({ ...token, id: isEnd ? end : 1, text: isEnd ? "<|end|>" : String(each) });
    }
  };
  const model = { generate, info: { config: { eosTokenId: end } } } as unknown as Model;
  const write = async (text: string, call: GenerateCall) => {
    let shown = text;
    for await (const each of continueWith(model, text, undefined, call)) shown += each.text;
    return shown;
  };
  expect(await write("One", { ignoreEos: true })).toBe("One a\n\nb\n\nc\n\n d");
  expect(await write("One", {})).toContain("<|end|>");
  texts.unshift(end);
  expect(await write("One\n\n", { ignoreEos: true })).toMatch(/^One\n\n a/);
  expect(await write("", { ignoreEos: true })).toMatch(/^ a/);
  expect(await write("O", { ignoreEos: true })).toMatch(/^O\n\n a/);
});
