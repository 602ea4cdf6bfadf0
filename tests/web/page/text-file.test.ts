// The file of texts: reading returns the written texts, and each kind of damage is named.
import { describe, expect, it } from "vitest";
import { currentLanguage, wordsOf } from "../../../web/page/language/translation.js";
import { parseFile, settled, toFile, type FiledText } from "../../../web/page/library/text-file.js";

const kept = { text: "Once upon\na time", caret: 4, written: [[0, 4, "en"]] as const };
const whole: FiledText = {
  name: "A name",
  changed: Date.UTC(2026, 0, 31),
  content: {
    ...kept,
    run: [0, 4],
    tree: {
      branches: [
        { id: 0, parent: null, name: "First", kept },
        { id: 1, parent: 0, name: "“cat”", kept: { text: "A cat", caret: 5, written: [] } },
      ],
      current: 1,
    },
    alternatives: {
      all: [
        { text: "Once", written: [] },
        { text: "Then", written: [[0, 4]] },
      ],
      shown: 0,
    },
    options: { temperature: 0.5, stop: ["\n"] },
    seed: 42,
  },
};
const plain: FiledText = { name: undefined, changed: 0, content: { text: "", caret: 0, written: [] } };

it("a file of texts is read back unchanged", () => {
  expect(parseFile(toFile([whole, plain]))).toEqual([whole, plain]);
  expect(parseFile(toFile([]))).toEqual([]);
});

it("a file whose last run is empty is read, without the run", () => {
  const run = [5, 5] as const;
  const [read] = parseFile(toFile([{ ...plain, content: { ...plain.content, text: "A cat", run } }]));
  expect(read?.content).toEqual({ text: "A cat", caret: 0, written: [] });
});

it("overlapping parts of a file are ignored", () => {
  const written = [
    [0, 4],
    [2, 6],
    [4, 5],
  ] as const;
  const [read] = parseFile(toFile([{ ...plain, content: { ...kept, written } }]));
  expect(read?.content.written).toEqual([written[0], written[2]]);
});

/** The file of `whole`, changed by `change`. */
function damaged(change: (text: Record<string, unknown>, file: Record<string, unknown>) => void): string {
  const file = JSON.parse(toFile([plain, whole])) as { texts: Record<string, unknown>[] };
  change(file.texts[1] ?? {}, file);
  return JSON.stringify(file);
}

describe("a file with damage is refused", () => {
  it.each<[string, Parameters<typeof damaged>[0], string]>([
    ["of another format", (_, file) => (file.format = "x"), 'format: expected "gpt2-wasm texts", found "x"'],
    ["of a later version", (_, file) => (file.version = 2), "version: expected 1, found 2"],
    ["without texts", (_, file) => delete file.texts, "texts: expected a list, found nothing"],
    ["with another field", (_, file) => (file.more = 1), 'the file has the unknown field "more"'],
    [
      "with another field of a text",
      (text) => (text.history = {}),
      'texts[1] has the unknown field "history"',
    ],
    ["with a name that is none", (text) => (text.name = 3), "texts[1].name: expected text, found 3"],
    [
      "without a time",
      (text) => delete text.changed,
      "texts[1].changed: expected a time such as 2026-01-31T12:00:00.000Z, found nothing",
    ],
    [
      "with another kind of line break",
      (text) => (text.text = "a\r\nb"),
      'texts[1].text: expected text with "\\n" between its lines, found "a\\r\\nb"',
    ],
    [
      "with a caret behind the text",
      (text) => (text.caret = 17),
      "texts[1].caret: expected an offset up to 16, found 17",
    ],
    [
      "with a negative caret",
      (text) => (text.caret = -1),
      "texts[1].caret: expected an offset up to 16, found -1",
    ],
    [
      "with a part behind the text",
      (text) => (text.written = [[0, 99]]),
      'texts[1].written[0]: expected two offsets up to 16, and "en" or nothing, found [0,99]',
    ],
    [
      "with a part of an unknown language",
      (text) => (text.written = [[0, 1, "xx"]]),
      'texts[1].written[0]: expected two offsets up to 16, and "en" or nothing, found [0,1,"xx"]',
    ],
    ["with a run that is none", (text) => (text.run = 3), "texts[1].run[0]: expected two offsets"],
    [
      "without a current branch",
      (text) => ((text.tree as { current: number }).current = 7),
      "texts[1].tree: expected at most 1000 branches with an id each, and one of those as current",
    ],
    [
      "with 1,001 branches, each in the one before",
      (text) =>
        (text.tree = {
          branches: Array.from({ length: 1001 }, (_, id) => ({ id, parent: id - 1, name: "", kept })),
          current: 0,
        }),
      "texts[1].tree: expected at most 1000 branches",
    ],
    [
      "with 1,001 alternatives",
      (text) =>
        (text.alternatives = {
          all: Array.from({ length: 1001 }, () => ({ text: "a", written: [] })),
          shown: 0,
        }),
      "texts[1].alternatives: expected two to 1000 texts",
    ],
    [
      "with a branch whose text is none",
      (text) => ((text.tree as { branches: { kept: unknown }[] }).branches[1] = { kept: 1 }),
      "texts[1].tree.branches[1].kept: expected an object, found 1",
    ],
    [
      "with one alternative",
      (text) => (text.alternatives as { all: unknown[] }).all.pop(),
      "texts[1].alternatives: expected two to 1000 texts",
    ],
    [
      "with an option of another type",
      (text) => (text.options = { temperature: "hot" }),
      'texts[1].options.temperature: expected an option of the right type, found "hot"',
    ],
    [
      "with an unknown option",
      (text) => (text.options = { colour: 1 }),
      "texts[1].options.colour: expected an option of the right type, found 1",
    ],
    [
      "with a seed that is none",
      (text) => (text.seed = 1.5),
      "texts[1].seed: expected a whole number, found 1.5",
    ],
  ])("%s", (_what, change, message) => {
    expect(() => parseFile(damaged(change))).toThrow(message);
  });

  it.each(["", "{", "null", "[]", "3", '"x"', "PK\u0003\u0004"])("that is %j", (json) => {
    expect(() => parseFile(json)).toThrow(/^(?:expected JSON|format: expected)/);
  });
});

it("a German page says in German what is wrong with a file", async () => {
  currentLanguage.value = { language: "de", words: await wordsOf("de") };
  try {
    const behind = damaged((text) => (text.caret = 17));
    expect(() => parseFile(behind)).toThrow(
      "Bei texts[1].caret wird ein Offset bis 16 erwartet, gefunden wurde 17",
    );
    const other = damaged((_, file) => (file.more = 1));
    expect(() => parseFile(other)).toThrow('Die Datei hat das unbekannte Feld "more"');
    expect(() => parseFile("{")).toThrow(/^Die Datei ist kein JSON \(/);
  } finally {
    currentLanguage.value = { language: "en", words: undefined };
  }
});

it("a draft becomes the text, and the model's parts stay at their words", () => {
  const typed = {
    text: "one two three",
    caret: 14,
    written: [
      [0, 3],
      [4, 7, "en"],
      [8, 13],
    ] as const,
    draft: "one 2 three!",
  };
  expect(settled({ ...typed, history: {} })).toMatchObject({ text: "one 2 three!", caret: 14 });
  const before = settled({ text: "a b", caret: 1, written: [[2, 3]], draft: "a long b" });
  expect(before.written.map(([from, to]) => before.text.slice(from, to))).toEqual(["b"]);
  expect(settled({ text: "a b", caret: 1, written: [[0, 3]], draft: "a, b" }).written).toEqual([
    [0, 1],
    [2, 4],
  ]);
});
