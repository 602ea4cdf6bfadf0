// Any content of the storage gives a text or none. No record causes an exception when it is read, or when its steps are
// undone. A record without damage is restored unchanged.
import { deepStrictEqual } from "node:assert";
import { history, isolateHistory, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { EditorState, type StateCommand, type TransactionSpec } from "@codemirror/state";
import * as fc from "fast-check";
import {
  alternativesField,
  keepAlternatives,
  parseAlternatives,
  toAlternative,
} from "../../../web/page/document/alternatives.js";
import { fieldsField, fieldSteps, setFields } from "../../../web/page/document/fields.js";
import { closeRun, growRun, openRun, runField, runs, type Run } from "../../../web/page/document/run.js";
import { branchSteps, changeTree, goToBranch, treeField } from "../../../web/page/document/steps.js";
import { moveToNewBranch } from "../../../web/page/document/tree.js";
import { keepHistory, keepRun, openKept } from "../../../web/page/document/kept-history.js";
import { parseKept } from "../../../web/page/document/parse-kept.js";
import {
  addWritten,
  toKeptText,
  rangesOfParts,
  writtenTracking,
} from "../../../web/page/document/written.js";
import { parseFields } from "../../../web/page/document/parse-fields.js";
import { parseOptions } from "../../../web/page/library/parse-options.js";
import { afterChange, parseLastChange } from "../../../web/page/library/last-change.js";
import { parseFile, toFile } from "../../../web/page/library/text-file.js";
import { fuzzTarget } from "./target.js";

const alternatives = {
  all: [
    { text: " there was", written: [[0, 10, "en"]] },
    { text: " a\ncat 🐈", written: [[2, 8]] },
  ],
  shown: 1,
};

const firstRun: Run = { from: 0, to: 3, stage: "closed" };
const extensions = [
  writtenTracking,
  history(),
  branchSteps(undefined),
  fieldSteps(undefined),
  runs,
  runField.init(() => firstRun),
  alternativesField.init(() => parseAlternatives(alternatives)),
];

function recordOf(state: EditorState) {
  return {
    ...toKeptText(state),
    run: keepRun(state.field(runField)),
    history: keepHistory(state),
    tree: state.field(treeField),
    fields: state.field(fieldsField),
    alternatives: keepAlternatives(state),
  };
}

/** The records of a text that grows, is branched, and is undone. */
function makeRecords(): unknown[] {
  let state = EditorState.create({ doc: "Once upon a time", extensions });
  const records: unknown[] = [recordOf(state)];
  const make = (spec: TransactionSpec) => {
    state = state.update(spec, { annotations: isolateHistory.of("full") }).state;
    records.push(recordOf(state));
  };
  const step = (command: StateCommand) => {
    command({ state, dispatch: (transaction) => void ({ state } = transaction) });
    records.push(recordOf(state));
  };
  make({
    changes: { from: 16, insert: ", there was" },
    effects: addWritten.of(rangesOfParts([[16, 27, "en"]])),
  });
  make({ changes: { from: 4, to: 9 }, selection: { anchor: 4 } });
  const lastRun = () => state.field(runField) ?? firstRun;
  const write = (from: number, to: number, text: string) => {
    const token = { index: 0, id: 1, text, logprob: -1, rank: 1 };
    state = state.update(openRun(from, to)).state;
    state = state.update(growRun(state, lastRun(), [token])).state;
    make(closeRun(lastRun()));
  };
  write(2, 2, " cat 🐈");
  write(lastRun().from, lastRun().to, " dog");
  step(undo);
  make({
    effects: goToBranch.of(moveToNewBranch(undefined, "a cat", "first")),
    changes: { from: 8, insert: "\ncat 🐈\n" },
  });
  make({ effects: changeTree.of({ kind: "rename", id: 1, name: "🐈" }) });
  make({ effects: setFields.of({ remember: "Max talks.", note: "" }), changes: { from: 0, to: 4 } });
  step(undo);
  step(undo);
  step(undo);
  return records;
}

const records = makeRecords();

/** Takes every step of the history back, and makes them all again. */
function walk(begin: EditorState): EditorState {
  let state = begin;
  const all = (command: StateCommand, depth: (state: EditorState) => number) => {
    for (let steps = depth(state); steps > 0; steps -= 1)
      command({ state, dispatch: (transaction) => void ({ state } = transaction) });
  };
  const redone = redoDepth(state);
  all(undo, undoDepth);
  all(redo, redoDepth);
  for (let steps = redone; steps > 0; steps -= 1)
    undo({ state, dispatch: (transaction) => void ({ state } = transaction) });
  return state;
}

/** The state that a record makes. */
function stateOf(value: unknown): EditorState | undefined {
  const kept = parseKept(value);
  if (!kept) return undefined;
  return openKept(kept, parseFields((value as { fields?: unknown }).fields), []);
}

interface Damage {
  path: readonly number[];
  value: unknown;
}

/** `record` with something else at the end of `path`, whose numbers choose among the keys there. */
function damaged(record: unknown, { path, value }: Damage): unknown {
  if (typeof record !== "object" || record === null || path.length === 0) return value;
  const keys = Object.keys(record);
  const key = keys[(path[0] ?? 0) % Math.max(1, keys.length)];
  if (key === undefined) return value;
  const inside = damaged((record as Record<string, unknown>)[key], { path: path.slice(1), value });
  return Array.isArray(record)
    ? record.map((each: unknown, place) => (String(place) === key ? inside : each))
    : { ...record, [key]: inside };
}

const leaf = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    -1,
    0,
    1,
    3,
    16,
    27,
    1e9,
    0.5,
    NaN,
    Infinity,
    2 ** 53,
    "",
    "a\r\nb",
    "🐈",
    true,
  ),
  fc.constantFrom([], {}, [0], [-1], [[0, "x"]], [0, 16], [16], [[5]], {
    ranges: [{ anchor: 99, head: 0 }],
    main: 0,
  }),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.integer(),
);
const damage = fc.record({ path: fc.array(fc.nat(20), { minLength: 1, maxLength: 8 }), value: leaf });
const input = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(fc.nat(records.length - 1), fc.array(damage, { maxLength: 3 })) },
  { weight: 1, arbitrary: fc.tuple(fc.constant(-1), fc.array(damage, { minLength: 1, maxLength: 6 })) },
);

/** Puts each alternative of a record in the text, as the visitor may. */
function showAlternatives(value: unknown): void {
  const parsed = parseAlternatives(value);
  let state = EditorState.create({
    doc: "Once upon",
    extensions: [writtenTracking, runs, history(), alternativesField.init(() => parsed)],
  });
  state = state.update(closeRun({ from: 4, to: 9, stage: "closed" })).state;
  for (let left = parsed.all.length; left > 0; left -= 1) {
    const step = toAlternative(state, 1);
    if (step) state = state.update(step).state;
  }
}

/** A change is JSON from the local storage, which may hold anything. */
function checkLastChange(value: unknown): void {
  const last = parseLastChange(JSON.stringify(value ?? null));
  if (last) afterChange("Once upon a time", last.change);
}

/** A file of texts holds any JSON: it is refused with a message, or can be written and read again. */
function checkFile(value: unknown, isWhole: boolean): void {
  const { history: _, ...fields } = Object(value) as Record<string, unknown>;
  const texts = [{ changed: "2026-01-31T12:00:00.000Z", ...fields }];
  const { format, version } = JSON.parse(toFile([])) as object & { format: unknown; version: unknown };
  let read: ReturnType<typeof parseFile>;
  try {
    read = parseFile(JSON.stringify({ format, version, texts }));
  } catch (error) {
    if (isWhole || !/: expected | has the unknown field /.test(String(error))) throw error;
    return;
  }
  deepStrictEqual(parseFile(toFile(read)), read);
}

export const target = fuzzTarget({
  arbitrary: input,
  check([place, damages]) {
    const whole = place < 0 ? {} : records[place];
    const value = damages.reduce<unknown>(damaged, whole);
    parseOptions(value);
    parseFields(value);
    parseFields((value as { run?: unknown } | undefined)?.run);
    parseFields({ remember: (value as { text?: unknown } | undefined)?.text, note: damages[0]?.value });
    showAlternatives((value as { alternatives?: unknown } | undefined)?.alternatives);
    checkLastChange({ version: 0, caret: 0, change: value });
    checkFile(value, place >= 0 && damages.length === 0);
    const state = stateOf(value);
    if (!state) return;
    const walked = walk(state);
    if (damages.length > 0) return;
    deepStrictEqual(recordOf(state), whole);
    deepStrictEqual(walked.doc.toString(), state.doc.toString());
  },
});
