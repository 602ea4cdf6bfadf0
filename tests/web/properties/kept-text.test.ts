// @vitest-environment happy-dom
// Any content of the browser's storage gives a text or none, and so does any file of texts.
import { redo, redoDepth, undo } from "@codemirror/commands";
import type { EditorState, Transaction } from "@codemirror/state";
import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import {
  alternativesField,
  keepAlternatives,
  toAlternative,
} from "../../../web/page/document/alternatives.js";
import { fieldsField } from "../../../web/page/document/fields.js";
import { keepHistory, keepRun, openKept } from "../../../web/page/document/kept-history.js";
import { parseFields } from "../../../web/page/document/parse-fields.js";
import { parseKept } from "../../../web/page/document/parse-kept.js";
import { runField } from "../../../web/page/document/run.js";
import { treeField } from "../../../web/page/document/steps.js";
import { toKeptText } from "../../../web/page/document/written.js";
import { afterChange, parseLastChange } from "../../../web/page/library/last-change.js";
import { parseOptions } from "../../../web/page/library/parse-options.js";
import { parseFile, toFile } from "../../../web/page/library/text-file.js";
import { damagedOf } from "./any-text.js";
import { property } from "./property.js";

/** What the page stores of a text that grew, was branched, and was then undone: one record a line. */
const records = readFileSync(join(import.meta.dirname, "kept-texts.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Record<string, unknown>);

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
  const dispatch = (transaction: Transaction) => void ({ state } = transaction);
  const undone = redoDepth(state);
  while (undo({ state, dispatch }));
  while (redo({ state, dispatch }));
  for (let left = undone; left > 0; left -= 1) undo({ state, dispatch });
  return state;
}

/** Puts each alternative of the last run in the text, as the visitor may. */
function showAlternatives(begin: EditorState): void {
  let state = begin;
  for (const _ of state.field(alternativesField).all)
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

const selection = { ranges: [{ anchor: 99, head: 0 }], main: 0 };
const odd = fc.oneof(
  fc.constantFrom<unknown>(...[undefined, null, -1, 0, 1, 3, 16, 27, 1e9, 0.5, NaN, Infinity, 2 ** 53]),
  fc.constantFrom<unknown>(
    ...["", "a\r\nb", "🐈", true, [], {}, [-1], [[0, "x"]], [0, 16], [[5]], selection],
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.integer(),
);

property(
  "a kept text is read, refused or undone without an exception, and is restored unchanged if it has no damage",
  fc.tuple(damagedOf(fc.constantFrom(...records), odd), odd),
  ([{ value: kept, isWhole }, note]) => {
    const members = Object(kept) as Record<string, unknown>;
    parseOptions(kept);
    for (const fields of [kept, members.run, { remember: members.text, note }]) parseFields(fields);
    const last = parseLastChange(JSON.stringify({ version: 0, caret: 0, change: kept }));
    if (last) afterChange("Once upon a time", last.change);
    checkFile(kept, isWhole);
    const parsed = parseKept(kept);
    if (!parsed) {
      expect(isWhole).toBe(false);
      return;
    }
    const state = openKept(parsed, parseFields(members.fields), []);
    expect(state.selection.main.head).toBeGreaterThanOrEqual(0);
    showAlternatives(state);
    const walked = walk(state);
    if (!isWhole) return;
    expect(recordOf(state)).toEqual(kept);
    expect(walked.doc.toString()).toBe(state.doc.toString());
  },
);
