// Branches as steps of the text's history: undo and redo bring back which one is the current one, and no text is lost.
import { history, isolateHistory, redo, undo, undoDepth } from "@codemirror/commands";
import { EditorState, type StateEffect } from "@codemirror/state";
import { beforeEach, expect, it } from "vitest";
import {
  alternativeOf,
  alternativesField,
  keepAlternatives,
} from "../../../web/page/document/alternatives.js";
import { runField, runs } from "../../../web/page/document/run.js";
import { branchSteps, changeTree, goToBranch, treeField } from "../../../web/page/document/steps.js";
import {
  withCurrentText,
  moveToNewBranch,
  moveToBranch,
  type TreeChange,
} from "../../../web/page/document/tree.js";
import { keepHistory, openKept } from "../../../web/page/document/kept-history.js";
import { parseKept } from "../../../web/page/document/parse-kept.js";
import { toKeptText, writtenTracking } from "../../../web/page/document/written.js";
import { after, close, grow, openAt } from "./model-writes.js";

const extensions = [writtenTracking, history(), branchSteps(undefined), runs, alternativesField];

/** A text with its branches, and what its visitor does. */
class Surface {
  state = EditorState.create({ doc: "first", extensions });

  get tree() {
    return this.state.field(treeField);
  }

  get text() {
    return this.state.doc.toString();
  }

  /** The text, the current branch, and all branches by their ids. */
  get shown() {
    const tree = this.tree && withCurrentText(this.tree, toKeptText(this.state));
    const all = tree?.branches.map(
      ({ id, name, parent, kept }) => `${id} of ${parent}, ${name}: ${kept.text}`,
    );
    return [this.text, tree?.current, all];
  }

  put(insert: string, effects: readonly StateEffect<unknown>[] = []) {
    const changes = { from: 0, to: this.text.length, insert };
    this.state = this.state.update({ changes, effects, annotations: isolateHistory.of("full") }).state;
  }

  cut(from: number, to: number) {
    this.state = this.state.update({ changes: { from, to }, annotations: isolateHistory.of("full") }).state;
  }

  make(text: string) {
    this.put(text, [goToBranch.of(moveToNewBranch(this.tree, text, "First"))]);
  }

  walk(id: number) {
    const move = this.tree && moveToBranch(this.tree, id);
    const next = this.tree?.branches.find((branch) => branch.id === id);
    if (move && next) this.put(next.kept.text, [goToBranch.of(move)]);
  }

  showOther(text: string) {
    this.put(text, this.tree ? [changeTree.of({ kind: "replace" })] : []);
  }

  change(change: TreeChange) {
    this.state = this.state.update({ effects: changeTree.of(change) }).state;
  }

  /** The model writes at `from`, in place of the text up to `to`. */
  write(text: string, from: number, to = from) {
    this.state = close(grow(openAt(this.state, from, to), text));
  }

  /** The last run's text, and which of its alternatives it is. */
  get lastRun() {
    const { from, to } = this.state.field(runField) ?? { from: 0, to: 0 };
    return [this.state.sliceDoc(from, to), alternativeOf(this.state)];
  }

  undo = () => void (this.state = after(undo, this.state));
  redo = () => void (this.state = after(redo, this.state));

  reload() {
    const { state, tree } = this;
    const last = state.field(runField);
    const run = last && [last.from, last.to];
    const alternatives = keepAlternatives(state);
    const record = { ...toKeptText(state), run, alternatives, history: keepHistory(state), tree };
    const kept = parseKept(JSON.parse(JSON.stringify(record))) ?? expect.fail("the record is invalid");
    this.state = openKept(kept, undefined, []);
  }
}

let surface: Surface;
beforeEach(() => {
  surface = new Surface();
});

it("another text has no branches, until it gets its own", () => {
  surface.make("other");
  surface.showOther("new");
  expect(surface.shown).toEqual(["new", undefined, undefined]);
  surface.make("branch of the new one");
  expect(surface.shown.slice(0, 2)).toEqual(["branch of the new one", 1]);
});

it("after a reload, Undo and Redo restore the last run and its alternatives", () => {
  surface.write(" one", 5);
  surface.write(" two", 5, 9);
  surface.write("So ", 0);
  surface.undo();
  surface.reload();
  expect(surface.lastRun).toEqual([" two", { place: 1, count: 2 }]);
  surface.redo();
  expect([surface.text, ...surface.lastRun]).toEqual(["So first two", "So ", undefined]);
  surface.reload();
  surface.undo();
  expect(surface.lastRun).toEqual([" two", { place: 1, count: 2 }]);
  surface.undo();
  expect(surface.lastRun).toEqual([" one", { place: 0, count: 2 }]);
  surface.undo();
  surface.reload();
  expect([surface.text, ...surface.lastRun]).toEqual(["first", "", undefined]);
  surface.redo();
  expect(surface.lastRun).toEqual([" one", { place: 0, count: 2 }]);
});

it("the alternatives of a run whose text was deleted survive a reload", () => {
  surface.write(" one", 5);
  surface.write(" two", 5, 9);
  surface.cut(5, 9);
  surface.write("So ", 0);
  surface.reload();
  for (let undone = 0; undone < 3; undone += 1) surface.undo();
  expect(surface.lastRun).toEqual([" one", { place: 0, count: 2 }]);
});

it("each undo shows the state before, and each redo the state after", () => {
  let random = 7;
  const below = (limit: number) => {
    random = (random * 48271) % 2147483647;
    return random % limit;
  };
  for (let round = 0; round < 20; round += 1) {
    surface = new Surface();
    const shown = [surface.shown];
    for (let step = 0; step < 30; step += 1) {
      const before = surface.state;
      const action = below(6);
      if (action === 0) surface.put(`text ${round} ${step}`);
      if (action === 1) surface.make(`branch ${round} ${step}`);
      if (action === 2) surface.walk(below(step + 1));
      if (action === 5) surface.showOther(`other ${round} ${step}`);
      const { branches = [], current } = surface.tree ?? {};
      const other = branches[below(branches.length + 1)];
      if (action === 3 && other) surface.change({ kind: "rename", id: other.id, name: `name ${step}` });
      if (action === 4 && other && other.id !== current && other.parent !== null)
        surface.change({ kind: "remove", id: other.id });
      if (surface.state !== before) shown.push(surface.shown);
      if (below(10) === 0) surface.reload();
    }
    for (const each of shown.slice(0, -1).reverse()) {
      surface.undo();
      expect(surface.shown).toEqual(each);
    }
    expect(undoDepth(surface.state)).toBe(0);
    for (const each of shown.slice(1)) {
      surface.redo();
      expect(surface.shown).toEqual(each);
    }
  }
});
