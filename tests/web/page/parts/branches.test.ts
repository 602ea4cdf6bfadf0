// @vitest-environment happy-dom
// The list of branches, alone, in an editor without a model.
import { signal } from "@preact/signals-core";
import { expect, it, vi } from "vitest";
import { Editor } from "../../../../web/page/document/editor.js";
import { closeRun } from "../../../../web/page/document/run.js";
import type { Branch, Tree } from "../../../../web/page/document/tree.js";
import { Notes } from "../../../../web/page/dom/notes.js";
import { Branching } from "../../../../web/page/parts/branches/branching.js";
import { showBranches, wordsOf } from "../../../../web/page/parts/branches/list.js";
import { mountMarkup } from "../../support/page-part.js";

const branch = (id: number, parent: number | null, text: string): Branch => ({
  id,
  parent,
  name: `N${id}`,
  kept: { text, caret: 0, written: [] },
});
const start = "Once upon a time there was";
const tree: Tree = {
  branches: [
    branch(0, null, `${start} a big red dog`),
    branch(1, 0, `${start} a big blue whale that sang all day long`),
    branch(2, 1, `${start} a big blue whale that slept`),
    branch(3, 0, start),
  ],
  current: 1,
};

it("each branch is shown by its first words that differ from its parent, in their own direction", () => {
  const words = ["red dog", "blue whale that sang all day long", "slept", ""];
  expect(tree.branches.map((each) => wordsOf(tree, each))).toEqual(words);
  const place = document.createElement("div");
  const actions = { walk: vi.fn(), name: vi.fn(), remove: vi.fn(), compare: vi.fn() };
  showBranches(place, tree, actions);
  const shown = [...place.querySelectorAll(".words")];
  expect(shown.map(({ textContent }) => textContent)).toEqual([...words.slice(0, 3), "ends there"]);
  expect(shown.every((each) => each.getAttribute("dir") === "auto")).toBe(true);
});

/** A text whose last run is " upon". */
function mount() {
  const ui = mountMarkup("branches", "branchList", "noteText", "noteButton", "noteClose", "generate");
  const editor = new Editor(
    { text: "Once upon a time", caret: 0, written: [[4, 9]] },
    {
      parent: document.body,
      edges: { tabs: document.createElement("div"), dock: document.createElement("div") },
      fields: signal(undefined),
      modelsLanguage: () => "en",
      onUpdate: vi.fn(),
      onBegin: vi.fn(),
    },
  );
  const run = { from: 4, to: 9, stage: "closed" } as const;
  editor.view.dispatch(closeRun(run));
  const notes = new Notes(ui);
  const writing = { stop: vi.fn(() => Promise.resolve()), goOn: vi.fn(), say: vi.fn() };
  const branching = new Branching(editor, ui.branches, ui.branchList, notes, writing);
  return { ui, editor, run, writing, branching };
}

it("a new branch has no last run, and Undo brings back that of the text before", async () => {
  const { ui, editor, run, writing, branching } = mount();
  await branching.branch(4, { id: 1, text: " a", logprob: -1, rank: 1 });
  expect([editor.text, editor.run, writing.goOn.mock.calls.length]).toEqual(["Once a", null, 1]);
  ui.noteClose.click();
  expect(ui.noteText.textContent).toBe("");
  expect(branching.all?.branches.map(({ name }) => name)).toEqual(["First", "“a” at 4"]);
  editor.undo();
  expect([editor.text, editor.run]).toEqual(["Once upon a time", run]);
  editor.redo();
  expect([editor.text, editor.run]).toEqual(["Once a", null]);
});

const signs = { " ": "␣", "\n\n": "↵↵", "\u00a0\t": "␣⇥", " a": "a" };
it.each(Object.entries(signs))(
  "a branch with the token %j is named in visible signs",
  async (text, shown) => {
    const { ui, branching } = mount();
    await branching.branch(4, { id: 1, text, logprob: -1, rank: 1 });
    expect(ui.noteText.textContent).toContain(`continues with “${shown}”`);
    expect(branching.all?.branches[1]?.name).toBe(`“${shown}” at 4`);
  },
);

it("branches that cannot be shown say why, and the editor stays usable", () => {
  const { ui, editor, branching } = mount();
  const deep = Object.defineProperty(branch(1, 0, "b"), "name", {
    get() {
      throw new RangeError("too deep");
    },
  });
  vi.spyOn(editor, "tree", "get").mockReturnValue({ branches: [branch(0, null, "a"), deep], current: 0 });
  branching.show();
  expect(ui.branchList.textContent).toContain(
    "This part of the page could not be loaded: an unexpected error happened",
  );
});
