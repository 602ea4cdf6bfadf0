// @vitest-environment happy-dom
// Any content of the browser's storage gives a text or none, and so does any file of texts.
import { history, isolateHistory, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { EditorState, type StateCommand, type TransactionSpec } from "@codemirror/state";
import * as fc from "fast-check";
import { expect } from "vitest";
import {
  alternativesField,
  keepAlternatives,
  parseAlternatives,
  toAlternative,
} from "../../../web/page/document/alternatives.js";
import { fieldsField, fieldSteps, setFields } from "../../../web/page/document/fields.js";
import { keepHistory, keepRun, openKept } from "../../../web/page/document/kept-history.js";
import { parseFields } from "../../../web/page/document/parse-fields.js";
import { parseKept } from "../../../web/page/document/parse-kept.js";
import { closeRun, growRun, openRun, runField, runs, type Run } from "../../../web/page/document/run.js";
import { branchSteps, changeTree, goToBranch, treeField } from "../../../web/page/document/steps.js";
import { moveToNewBranch } from "../../../web/page/document/tree.js";
import {
  addWritten,
  rangesOfParts,
  toKeptText,
  writtenTracking,
} from "../../../web/page/document/written.js";
import { afterChange, parseLastChange } from "../../../web/page/library/last-change.js";
import { parseOptions } from "../../../web/page/library/parse-options.js";
import { parseFile, toFile } from "../../../web/page/library/text-file.js";
import { damaged } from "./any-text.js";
import { property } from "./property.js";

const shown = { text: " a\ncat 🐈", written: [[2, 8]] };
const alternatives = { all: [{ text: " there was", written: [[0, 10, "en"]] }, shown], shown: 1 };
const firstRun: Run = { from: 0, to: 3, stage: "closed" };
const extensions = [
  ...[writtenTracking, history(), branchSteps(undefined), fieldSteps(undefined), runs],
  ...[runField.init(() => firstRun), alternativesField.init(() => parseAlternatives(alternatives))],
];

/** The records of a text that grows, is branched, and is undone. */
function makeRecords(): unknown[] {
  const records: unknown[] = [];
  let state = EditorState.create({ doc: "Once upon a time", extensions });
  const make = (spec: TransactionSpec) => {
    state = state.update(spec, { annotations: isolateHistory.of("full") }).state;
    records.push(recordOf(state));
  };
  const takeBack = () => {
    undo({ state, dispatch: (transaction) => void ({ state } = transaction) });
    records.push(recordOf(state));
  };
  const lastRun = () => state.field(runField) ?? firstRun;
  const write = (from: number, to: number, text: string) => {
    const token = { index: 0, id: 1, text, logprob: -1, rank: 1 };
    state = state.update(openRun(from, to)).state;
    state = state.update(growRun(state, lastRun(), [token])).state;
    make(closeRun(lastRun()));
  };
  const there = addWritten.of(rangesOfParts([[16, 27, "en"]]));
  make({ changes: { from: 16, insert: ", there was" }, effects: there });
  make({ changes: { from: 4, to: 9 }, selection: { anchor: 4 } });
  write(2, 2, " cat 🐈");
  write(lastRun().from, lastRun().to, " dog");
  takeBack();
  const toBranch = goToBranch.of(moveToNewBranch(undefined, "a cat", "first"));
  make({ changes: { from: 8, insert: "\ncat 🐈\n" }, effects: toBranch });
  make({ effects: changeTree.of({ kind: "rename", id: 1, name: "🐈" }) });
  make({ changes: { from: 0, to: 4 }, effects: setFields.of({ remember: "Max talks.", note: "" }) });
  for (let steps = 3; steps > 0; steps -= 1) takeBack();
  return records;
}

const recordOf = (state: EditorState) => ({
  ...toKeptText(state),
  run: keepRun(state.field(runField)),
  history: keepHistory(state),
  tree: state.field(treeField),
  fields: state.field(fieldsField),
  alternatives: keepAlternatives(state),
});

/** Takes every step of the history back, makes them all again, and returns to where it began. */
function walk(begin: EditorState): EditorState {
  let state = begin;
  const repeat = (command: StateCommand, steps: number) => {
    for (; steps > 0; steps -= 1)
      command({ state, dispatch: (transaction) => void ({ state } = transaction) });
  };
  const undone = redoDepth(state);
  repeat(undo, undoDepth(state));
  repeat(redo, redoDepth(state));
  repeat(undo, undone);
  return state;
}

/** Puts each alternative of a record in the text, as the visitor may. */
function showAlternatives(value: unknown): void {
  const parsed = parseAlternatives(value);
  let state = EditorState.create({
    doc: "Once upon",
    extensions: [writtenTracking, runs, history(), alternativesField.init(() => parsed)],
  });
  state = state.update(closeRun({ from: 4, to: 9, stage: "closed" })).state;
  for (let left = parsed.all.length; left > 0; left -= 1)
    state = state.update(toAlternative(state, 1) ?? {}).state;
}

/** A file with the text `value` is refused with a message, or is read unchanged after it was written. */
function checkFile(value: unknown, isWhole: boolean): void {
  const { history: _, ...fields } = Object(value) as Record<string, unknown>;
  const texts = [{ changed: "2026-01-31T12:00:00.000Z", ...fields }];
  let read: ReturnType<typeof parseFile>;
  try {
    read = parseFile(JSON.stringify({ ...(JSON.parse(toFile([])) as object), texts }));
  } catch (error) {
    if (isWhole || !/: expected | has the unknown field /.test(String(error))) throw error;
    return;
  }
  expect(parseFile(toFile(read))).toEqual(read);
}

const records = makeRecords();
const numbers = [-1, 0, 1, 3, 16, 27, 1e9, 0.5, NaN, Infinity, 2 ** 53];
const selection = { ranges: [{ anchor: 99, head: 0 }], main: 0 };
const value = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, ...numbers, "", "a\r\nb", "🐈", true),
  fc.constantFrom<unknown>([], {}, [0], [-1], [[0, "x"]], [0, 16], [16], [[5]], selection),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.integer(),
);
const damage = fc.record({ path: fc.array(fc.nat(20), { minLength: 1, maxLength: 8 }), value });

property(
  "a kept text is read, refused or undone without an exception, and is restored unchanged if it has no damage",
  fc.record({
    whole: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...records) }, fc.constant({})),
    damages: fc.array(damage, { maxLength: 4 }),
  }),
  ({ whole, damages }) => {
    const kept = damages.reduce<unknown>(damaged, whole);
    const members = Object(kept) as Record<string, unknown>;
    const isWhole = damages.length === 0 && whole !== null && Object.keys(whole as object).length > 0;
    parseOptions(kept);
    for (const fields of [kept, members.run, { remember: members.text, note: damages[0]?.value }])
      parseFields(fields);
    showAlternatives(members.alternatives);
    const last = parseLastChange(JSON.stringify({ version: 0, caret: 0, change: kept }));
    if (last) afterChange("Once upon a time", last.change);
    checkFile(kept, isWhole);
    const parsed = parseKept(kept);
    if (!parsed) return;
    const state = openKept(parsed, parseFields(members.fields), []);
    const walked = walk(state);
    if (!isWhole) return;
    expect(recordOf(state)).toEqual(whole);
    expect(walked.doc.toString()).toBe(state.doc.toString());
  },
);
