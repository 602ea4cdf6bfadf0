// @vitest-environment happy-dom
// The list of branches: one button each, named by the words that distinguish it.
import { expect, it, vi } from "vitest";
import { showBranches, wordsOf, type BranchActions } from "../../../../web/page/parts/branches/list.js";
import type { Branch, Tree } from "../../../../web/page/document/tree.js";

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

it("each branch is shown by its first words that differ from its parent", () => {
  expect(tree.branches.map((each) => wordsOf(tree, each))).toEqual([
    "red dog",
    "blue whale that sang all day long",
    "slept",
    "",
  ]);
});

it("the list has one button per branch, in the order of the tree, and the actions for the current one below", () => {
  const place = document.createElement("div");
  document.body.append(place);
  const actions: BranchActions = { walk: vi.fn(), name: vi.fn(), remove: vi.fn(), compare: vi.fn() };
  showBranches(place, tree, actions);
  const items = [...place.querySelectorAll<HTMLButtonElement>("li button")];
  expect(items.map(({ dataset }) => dataset.branch)).toEqual(["0", "1", "2", "3"]);
  expect(items.map((each) => each.getAttribute("aria-current") === "true")).toEqual([
    false,
    true,
    false,
    false,
  ]);
  expect(items[3]?.textContent).toBe("ends thereN3");
  items[2]?.click();
  expect(actions.walk).toHaveBeenCalledWith(2);
  const buttons = [...place.querySelectorAll<HTMLButtonElement>(".buttons button")];
  expect(buttons.map(({ ariaLabel }) => ariaLabel)).toEqual(["Compare", "Name N1", "Remove N1"]);
  buttons[2]?.click();
  expect(actions.remove).toHaveBeenCalledWith(1, 0, "N1");
  buttons[1]?.click();
  const field = place.querySelector("input");
  if (field) field.value = "Whale";
  field?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  expect(actions.name).toHaveBeenCalledWith(1, "Whale");
});

it("the first branch cannot be removed, and the focus stays on the current one", () => {
  const place = document.createElement("div");
  document.body.append(place);
  const actions: BranchActions = { walk: vi.fn(), name: vi.fn(), remove: vi.fn(), compare: vi.fn() };
  showBranches(place, tree, actions);
  place.querySelector<HTMLButtonElement>("[data-branch='0']")?.focus();
  showBranches(place, { ...tree, current: 0 }, actions);
  expect(place.textContent).not.toContain("Remove");
  expect(document.activeElement).toBe(place.querySelector("[data-branch='0']"));
});

it("the words of a branch run in their own direction", () => {
  const place = document.createElement("div");
  showBranches(place, tree, { walk: vi.fn(), name: vi.fn(), remove: vi.fn(), compare: vi.fn() });
  const words = [...place.querySelectorAll(".words")];
  expect(words.map((text) => text.getAttribute("dir"))).toEqual(["auto", "auto", "auto", "auto"]);
});
