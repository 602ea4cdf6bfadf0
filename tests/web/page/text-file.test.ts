// The file of texts: reading returns the written texts, and each kind of damage is named.
import { expect, it, onTestFinished } from "vitest";
import { currentLanguage, wordsOf } from "../../../web/page/language/translation.js";
import { parseFile, settled, toFile, type FiledText } from "../../../web/page/library/text-file.js";

const kept = { text: "Once upon\na time", caret: 4, written: [[0, 4, "en"]] as const };
const tree = {
  branches: [
    { id: 0, parent: null, name: "First", kept },
    { id: 1, parent: 0, name: "“cat”", kept: { text: "A cat", caret: 5, written: [] } },
  ],
  current: 1,
};
const once = { text: "Once", written: [] };
const then = { text: "Then", written: [[0, 4]] };
const alternatives = { all: [once, then], shown: 0 };
const whole: FiledText = {
  name: "A name",
  changed: Date.UTC(2026, 0, 31),
  content: {
    ...kept,
    run: [0, 4],
    tree,
    alternatives,
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
  const written = [[0, 4] as const, [2, 6] as const, [4, 5] as const];
  const [read] = parseFile(toFile([{ ...plain, content: { ...kept, written } }]));
  expect(read?.content.written).toEqual([written[0], written[2]]);
});

/** The file of a text and of `whole` with the fields `text`; the file has the fields `file`. undefined removes a field. */
const damaged = (text: object, file: object = {}): string => {
  const written = JSON.parse(toFile([plain, whole])) as { texts: object[] };
  return JSON.stringify({ ...written, texts: [written.texts[0], { ...written.texts[1], ...text }], ...file });
};
const branches = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, parent: id - 1, name: "", kept }));

it.each<[object, string]>([
  [{ format: "x" }, "it is damaged, or this page has not exported it"],
  [{ version: 2 }, "version: expected 1, found 2"],
  [{ texts: undefined }, "texts: expected a list, found nothing"],
  [{ more: 1 }, 'the file has the unknown field "more"'],
])("a file with %j is refused", (file, message) => {
  expect(() => parseFile(damaged({}, file))).toThrow(message);
});

const offsets = 'expected two offsets up to 16, and "en" or nothing, found';
const option = "expected an option of the right type, found";

it.each<[message: string, damage: object]>([
  [' has the unknown field "history"', { history: {} }],
  [".name: expected text, found 3", { name: 3 }],
  [".changed: expected a time such as 2026-01-31T12:00:00.000Z, found nothing", { changed: undefined }],
  ['.text: expected text with "\\n" between its lines, found "a\\r\\nb"', { text: "a\r\nb" }],
  [".caret: expected an offset up to 16, found 17", { caret: 17 }],
  [".caret: expected an offset up to 16, found -1", { caret: -1 }],
  [`.written[0]: ${offsets} [0,99]`, { written: [[0, 99]] }],
  [`.written[0]: ${offsets} [0,1,"xx"]`, { written: [[0, 1, "xx"]] }],
  [`.run[0]: ${offsets} 3`, { run: 3 }],
  [".tree: expected at most 1000 branches with an id each", { tree: { ...tree, current: 7 } }],
  [".tree: expected at most 1000 branches", { tree: { branches: branches(1001), current: 0 } }],
  [".tree.branches[0].kept: expected an object, found 1", { tree: { branches: [{ kept: 1 }] } }],
  [".alternatives: expected two to 1000 texts", { alternatives: { all: Array(1001).fill(kept), shown: 0 } }],
  [".alternatives: expected two to 1000 texts", { alternatives: { all: [kept], shown: 0 } }],
  [`.options.temperature: ${option} "hot"`, { options: { temperature: "hot" } }],
  [`.options.colour: ${option} 1`, { options: { colour: 1 } }],
  [".seed: expected a whole number, found 1.5", { seed: 1.5 }],
])("a damaged second text is refused: texts[1]%s", (message, damage) => {
  expect(() => parseFile(damaged(damage))).toThrow(`texts[1]${message}`);
});

it.each(["", "null", "[]", '"x"'])("a file that is %j is refused", (json) => {
  expect(() => parseFile(json)).toThrow("it is damaged, or this page has not exported it");
});

it("a German page says in German what is wrong with a file", async () => {
  onTestFinished(() => void (currentLanguage.value = { language: "en", words: undefined }));
  currentLanguage.value = { language: "de", words: await wordsOf("de") };
  const behind = "Bei texts[1].caret wird ein Offset bis 16 erwartet, gefunden wurde 17";
  expect(() => parseFile(damaged({ caret: 17 }))).toThrow(behind);
  expect(() => parseFile(damaged({}, { more: 1 }))).toThrow('Die Datei hat das unbekannte Feld "more"');
  expect(() => parseFile("{")).toThrow(/^die Datei ist beschädigt, oder/);
});

it("a draft becomes the text, and the model's parts stay at their words", () => {
  const written = [[0, 3] as const, [4, 7, "en"] as const, [8, 13] as const];
  const typed = { text: "one two three", caret: 14, written, draft: "one 2 three!" };
  expect(settled({ ...typed, history: {} })).toMatchObject({ text: "one 2 three!", caret: 14 });
  const before = settled({ text: "a b", caret: 1, written: [[2, 3]], draft: "a long b" });
  expect(before.written.map(([from, to]) => before.text.slice(from, to))).toEqual(["b"]);
  expect(settled({ text: "a b", caret: 1, written: [[0, 3]], draft: "a, b" }).written).toEqual([
    [0, 1],
    [2, 4],
  ]);
});
