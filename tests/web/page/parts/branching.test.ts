// @vitest-environment happy-dom
// Branches alone, with an editor and no model: a branch is made, left, compared and removed.
import { signal } from "@preact/signals-core";
import { expect, it, onTestFinished, vi } from "vitest";
import { Editor } from "../../../../web/page/document/editor.js";
import { closeRun } from "../../../../web/page/document/run.js";
import type { Tree } from "../../../../web/page/document/tree.js";
import { Notes } from "../../../../web/page/dom/notes.js";
import { Branching } from "../../../../web/page/parts/branches/branching.js";
import { compareBranches } from "../../../../web/page/parts/branches/compare.js";
import { isOff, mountMarkup, settle } from "../../support/page-part.js";

const token = { id: 1, text: " a", logprob: -1, rank: 1 };
const written = { from: 4, to: 9, stage: "closed" } as const;

/** A text whose last run is " upon". */
function mount() {
  const ui = mountMarkup("branches", "branchList", "noteText", "noteButton", "generate");
  const parent = document.body.appendChild(document.createElement("div"));
  const show = vi.fn();
  const editor = new Editor(
    { text: "Once upon a time", caret: 0, written: [[4, 9]] },
    {
      parent,
      dock: document.createElement("div"),
      fields: signal(undefined),
      modelsLanguage: () => "en",
      onUpdate: show,
      onBegin: show,
    },
  );
  editor.view.dispatch(closeRun(written));
  const notes = new Notes({ text: ui.noteText, button: ui.noteButton, next: ui.generate });
  const writing = { stop: vi.fn(() => Promise.resolve()), goOn: vi.fn(), say: vi.fn() };
  const branching = new Branching(editor, ui.branches, ui.branchList, notes, writing);
  show.mockImplementation(() => branching.show());
  const walks = () => [...ui.branchList.querySelectorAll<HTMLElement>("li button")];
  const press = async (label: string) => {
    const buttons = [...ui.branchList.querySelectorAll<HTMLElement>(".buttons button")];
    buttons.find((button) => button.ariaLabel?.startsWith(label))?.click();
    await settle();
  };
  return { ui, editor, branching, writing, walks, press };
}

it("another token makes a branch, the model goes on there, and the note leads back", async () => {
  const { ui, editor, branching, writing, walks } = mount();
  expect(ui.branches.hidden).toBe(true);
  await branching.branch(4, token);
  expect([editor.text, writing.goOn.mock.calls.length]).toEqual(["Once a", 1]);
  expect(walks().map((each) => each.textContent)).toEqual(["upon a timeFirst", "a“a” at 4"]);
  expect(ui.noteButton.textContent).toBe("Back to the other");
  ui.noteButton.click();
  await settle();
  expect([editor.text, ui.noteText.textContent]).toEqual(["Once upon a time", ""]);
  expect(branching.all?.branches.map(({ kept }) => kept.text)).toEqual(["Once upon a time", "Once a"]);
});

it("a branch has no last run, and Undo brings back that of the text before", async () => {
  const { editor, branching } = mount();
  await branching.branch(4, token);
  expect(editor.run).toBeNull();
  editor.undo();
  expect([editor.text, editor.run]).toEqual(["Once upon a time", written]);
  editor.redo();
  expect([editor.text, editor.run]).toEqual(["Once a", null]);
});

it("a branch that is removed gives way to its parent, and Undo brings it back", async () => {
  const { editor, branching, writing, walks, press } = mount();
  await branching.branch(4, token);
  await press("Remove");
  expect([editor.text, walks().length, writing.say.mock.calls.length]).toEqual(["Once upon a time", 1, 1]);
  editor.undo();
  expect(walks().length).toBe(2);
});

it("branches that cannot be shown say why, and the editor stays usable", () => {
  const { ui, editor, branching } = mount();
  const other = {
    id: 1,
    parent: 0,
    kept: { text: "b", caret: 0, written: [] },
    get name(): string {
      throw new RangeError("too deep");
    },
  };
  const first = { id: 0, parent: null, name: "First", kept: { text: "a", caret: 0, written: [] } };
  const tree: Tree = { branches: [first, other], current: 0 };
  vi.spyOn(editor, "tree", "get").mockReturnValue(tree);
  branching.show();
  expect(ui.branchList.textContent).toBe("This part of the page could not be loaded: too deep.");
});

it("two branches are compared from where they differ, and the other can be taken", () => {
  document.body.replaceChildren();
  vi.stubGlobal("Option", function (textContent: string, value: string) {
    return Object.assign(document.createElement("option"), { textContent, value });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const walk = vi.fn();
  const branch = (id: number, text: string) => ({
    id,
    parent: id === 0 ? null : 0,
    name: `N${id}`,
    kept: { text, caret: 0, written: [] },
  });
  const branches = [branch(0, "A cat sat."), branch(1, "A cat ran."), branch(2, "A dog.")];
  compareBranches({ branches, current: 1 }, walk);
  const dialog = document.querySelector("dialog");
  const columns = () =>
    [...document.querySelectorAll("#compare section")].map(
      (each) =>
        `${each.querySelector("h2")?.textContent ?? "other"}: ${each.querySelector("p")?.textContent}`,
    );
  expect(columns()).toEqual(["N1: A cat ran.", "other: A cat sat."]);
  expect(document.querySelector("#compare .quiet")?.textContent).toBe("A cat");
  const select = dialog?.querySelector("select") ?? expect.fail("no choice");
  select.value = "2";
  select.dispatchEvent(new Event("change"));
  expect(columns()).toEqual(["N1: A cat ran.", "other: A dog."]);
  const [close, take] = dialog?.querySelectorAll<HTMLElement>(".buttons button") ?? [];
  expect([close?.textContent, isOff(take ?? null)]).toEqual(["Close", false]);
  take?.click();
  expect(walk).toHaveBeenCalledWith(2);
  expect(document.querySelector("dialog")).toBeNull();
});
