import { expect, it } from "vitest";
import {
  applyChange,
  inverseChange,
  childrenOf,
  inOrder,
  withCurrentText,
  moveToNewBranch,
  applyMove,
  parseChange,
  parseMove,
  parseTree,
  moveToBranch,
  type Tree,
} from "../../../web/page/document/tree.js";

const kept = (text: string) => ({ text, caret: text.length, written: [[0, 1] as const] });
/** Each branch and its parent. */
const idsOf = (tree: Tree | undefined) =>
  tree?.branches.map(({ id, parent }) => `${id} of ${parent}`).join(", ");
/** The tree after `text` was left for a new branch of it. */
const fork = (tree: Tree | undefined, text: string, name: string) =>
  applyMove(tree, moveToNewBranch(tree, name, "First"), kept(text));
const textsOf = (tree: Tree | undefined) => tree?.branches.map((branch) => branch.kept.text);
const remove = (tree: Tree, id: number) => applyChange(tree, { kind: "remove", id });
/** Branch 1 starts from 0, and branch 2 from 1. Branch 2 is the current one. */
const grown = (): Tree => fork(fork(undefined, "first", "b"), "second", "c") ?? expect.fail("no tree");

it("a new branch keeps the previous text as another branch", () => {
  const tree = grown();
  expect(idsOf(tree)).toBe("0 of null, 1 of 0, 2 of 1");
  expect(tree.current).toBe(2);
  expect(textsOf(tree)).toEqual(["first", "second", "second"]);
  expect(childrenOf(tree, 1).map(({ name }) => name)).toEqual(["c"]);
});

it("a changed text is stored only in the current branch, and a new name only in its own", () => {
  expect(textsOf(withCurrentText(grown(), kept("third")))).toEqual(["first", "second", "third"]);
  const renamed = applyChange(grown(), { kind: "rename", id: 1, name: "dog" });
  expect(renamed.branches.map(({ name }) => name)).toEqual(["First", "dog", "c"]);
});

it("removing a branch moves its own branches to its parent, and its id is not used again", () => {
  const tree = remove(grown(), 1);
  expect(idsOf(tree)).toBe("0 of null, 2 of 0");
  expect(fork(tree, "x", "d")?.current).toBe(3);
});

it("a step to another branch keeps the text of the branch that it leaves", () => {
  const walk = moveToBranch(grown(), 0) ?? expect.fail("no step");
  const tree = applyMove(grown(), walk, kept("third"));
  expect(tree?.current).toBe(0);
  expect(textsOf(tree)).toEqual(["first", "second", "third"]);
});

it("there is no step to the current branch or to an unknown one", () => {
  expect(moveToBranch(grown(), 2)).toBeUndefined();
  expect(moveToBranch(grown(), 7)).toBeUndefined();
});

it("a change without an effect cannot be undone", () => {
  expect(inverseChange(grown(), { kind: "remove", id: 7 })).toBeUndefined();
});

it("50,000 branches, each in the one before, are put in order", () => {
  const branches = Array.from({ length: 50_000 }, (_, id) => ({
    id,
    parent: id === 0 ? null : id - 1,
    name: "",
    kept: kept("a"),
  }));
  const last = inOrder({ branches, current: 0 }).at(-1);
  expect([last?.branch.id, last?.depth]).toEqual([49_999, 49_999]);
});

const step = moveToNewBranch(grown(), "d", "First");
const restore = { kind: "restore", branch: grown().branches[1], place: 0, children: [] };

it.each<[(value: unknown) => unknown, unknown]>([
  [parseMove, null],
  [parseMove, { kind: "walk" }],
  [parseMove, { ...step, kind: "fly" }],
  [parseMove, { ...step, to: { id: "1", parent: null, name: "d" } }],
  [parseMove, { ...step, from: { id: 1, parent: null } }],
  [parseChange, null],
  [parseChange, { kind: "rename", id: 1 }],
  [parseChange, { kind: "rename", id: "1", name: "a" }],
  [parseChange, { kind: "remove" }],
  [parseChange, { ...restore, branch: {} }],
  [parseChange, { ...restore, place: "0" }],
  [parseChange, { ...restore, children: undefined }],
  [parseChange, step],
  [parseTree, null],
  [parseTree, {}],
  [parseTree, { branches: [], current: 0 }],
  [parseTree, { branches: 1, current: 0 }],
  [parseTree, { branches: [null, 1, {}], current: 0 }],
  [parseTree, { ...grown(), current: 7 }],
  [parseTree, { ...grown(), current: "2" }],
])("%o refuses %j", (parse, value) => {
  expect(parse(value)).toBeUndefined();
});

it.each([
  ["no text", { kept: undefined }],
  ["a text that is a number", { kept: { ...kept(""), text: 1 } }],
  ["a caret before the text", { kept: { ...kept(""), caret: -1 } }],
  ["no name", { name: undefined }],
  ["no id", { id: undefined }],
  ["the id of another", { id: 0 }],
  ["an id after which there is no other", { id: Number.MAX_SAFE_INTEGER }],
])("parseTree drops a branch with %s, and its own branches become first ones", (_, damage) => {
  const [first, second, third] = grown().branches;
  const tree = parseTree({ branches: [first, { ...second, ...damage }, third], current: 2 });
  expect(idsOf(tree)).toBe("0 of null, 2 of null");
});

it("parseTree breaks cycles of parents", () => {
  const [first, second, third] = grown().branches;
  const damaged = [first, { ...second, parent: 2 }, { ...third, parent: 2 }];
  expect(idsOf(parseTree({ branches: damaged, current: 0 }))).toBe("0 of null, 1 of null, 2 of null");
});
