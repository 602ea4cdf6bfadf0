// The branches of a text. Where another token was chosen, the texts before and after the choice are both kept.
import type { KeptText } from "./kept-text.js";
import { parseKept } from "./parse-kept.js";

/** A branch without its text. */
export interface BranchLabel {
  readonly id: number;
  /** null for the first branch. */
  readonly parent: number | null;
  readonly name: string;
}

export interface Branch extends BranchLabel {
  /** Its text when it was last left. */
  readonly kept: KeptText;
}

export interface Tree {
  branches: readonly Branch[];
  current: number;
}

/**
 * A switch from one branch to another. "make" also adds the other to the tree; "unmake" removes the branch that is
 * left.
 */
export interface Move {
  readonly kind: "walk" | "make" | "unmake";
  readonly from: BranchLabel;
  readonly to: BranchLabel;
}

/**
 * A change of the tree that does not change the text. "restore" puts a removed branch back, with its own branches.
 */
export type TreeChange =
  | { readonly kind: "rename"; readonly id: number; readonly name: string }
  | { readonly kind: "remove"; readonly id: number }
  | {
      readonly kind: "restore";
      readonly branch: Branch;
      readonly place: number;
      readonly children: readonly number[];
    };

/** Another text is shown, which has `tree`, or no branches. */
interface Replacement {
  readonly kind: "replace";
  readonly tree?: Tree | undefined;
}

export type TreeStep = TreeChange | Replacement;

const labelOf = ({ id, parent, name }: BranchLabel): BranchLabel => ({ id, parent, name });
const branchOf = ({ branches }: Tree, id: number) => branches.find((branch) => branch.id === id);

/**
 * The step to a new branch of the current one, named `name`. Without a tree, the current text becomes the branch
 * `firstName`.
 */
export function moveToNewBranch(tree: Tree | undefined, name: string, firstName: string): Move {
  const from = (tree && branchOf(tree, tree.current)) ?? { id: 0, parent: null, name: firstName };
  const id = Math.max(from.id, ...(tree?.branches ?? []).map((branch) => branch.id)) + 1;
  return { kind: "make", from: labelOf(from), to: { id, parent: from.id, name } };
}

/** The step to the branch `id`; undefined if that is the current branch or does not exist. */
export function moveToBranch(tree: Tree, id: number): Move | undefined {
  const from = branchOf(tree, tree.current);
  const to = branchOf(tree, id);
  return from && to && from !== to ? { kind: "walk", from: labelOf(from), to: labelOf(to) } : undefined;
}

/** The step that undoes `move`. */
export function reverseMove({ kind, from, to }: Move): Move {
  const kinds = { walk: "walk", make: "unmake", unmake: "make" } as const;
  return { kind: kinds[kind], from: to, to: from };
}

/** `branches` including the branch of `label`, which may have been removed since the step was recorded. */
function withBranch(branches: readonly Branch[], label: BranchLabel, kept: KeptText): readonly Branch[] {
  if (branches.some(({ id }) => id === label.id)) return branches;
  const parent = branches.some(({ id }) => id === label.parent) ? label.parent : null;
  return [...branches, { ...label, parent, kept }];
}

/** The tree after a step, where `kept` is the text before it; undefined if only one branch remains. */
export function applyMove(
  tree: Tree | undefined,
  { kind, from, to }: Move,
  kept: KeptText,
): Tree | undefined {
  const branches = withBranch(withBranch(tree?.branches ?? [], from, kept), to, kept);
  const there = { ...withCurrentText({ branches, current: from.id }, kept), current: to.id };
  if (kind !== "unmake") return there;
  const rest = remove(there, from.id);
  return rest.branches.length > 1 ? rest : undefined;
}

/** The tree with `kept` as the text of the current branch. */
export function withCurrentText({ branches, current }: Tree, kept: KeptText): Tree {
  return {
    branches: branches.map((branch) => (branch.id === current ? { ...branch, kept } : branch)),
    current,
  };
}

function rename({ branches, current }: Tree, id: number, name: string): Tree {
  return { branches: branches.map((branch) => (branch.id === id ? { ...branch, name } : branch)), current };
}

/**
 * The tree without the branch `id`, which must be neither the first nor the current one. Its own branches move to its
 * parent.
 */
function remove({ branches, current }: Tree, id: number): Tree {
  const removed = branches.find((branch) => branch.id === id);
  const others = branches.filter((branch) => branch !== removed);
  const parent = removed?.parent ?? null;
  return {
    branches: others.map((branch) => (branch.parent === id ? { ...branch, parent } : branch)),
    current,
  };
}

function restore(
  { branches, current }: Tree,
  branch: Branch,
  place: number,
  children: readonly number[],
): Tree {
  const all = branches.map((each) => (children.includes(each.id) ? { ...each, parent: branch.id } : each));
  return { branches: [...all.slice(0, place), branch, ...all.slice(place)], current };
}

/** The tree after `change`. */
export function applyChange(tree: Tree, change: TreeChange): Tree {
  switch (change.kind) {
    case "rename":
      return rename(tree, change.id, change.name);
    case "remove":
      return remove(tree, change.id);
    case "restore":
      return restore(tree, change.branch, change.place, change.children);
  }
}

/** The change that undoes `change` of `tree`; undefined if `change` has no effect. */
export function inverseChange(tree: Tree, change: TreeChange): TreeChange | undefined {
  if (change.kind === "restore") return { kind: "remove", id: change.branch.id };
  const { id } = change;
  const branch = branchOf(tree, id);
  if (!branch) return undefined;
  if (change.kind === "rename") return { kind: "rename", id, name: branch.name };
  const children = childrenOf(tree, id).map((child) => child.id);
  return { kind: "restore", branch, place: tree.branches.indexOf(branch), children };
}

/** As `applyChange`, also for a text without branches. */
export function applyStep(tree: Tree | undefined, step: TreeStep): Tree | undefined {
  return step.kind === "replace" ? step.tree : tree && applyChange(tree, step);
}

/** The step that undoes `step`; undefined if `step` has no effect. */
export function inverseStep(tree: Tree | undefined, step: TreeStep): TreeStep | undefined {
  return step.kind === "replace" ? { kind: "replace", tree } : tree && inverseChange(tree, step);
}

export const childrenOf = ({ branches }: Tree, parent: number | null): Branch[] =>
  branches.filter((branch) => branch.parent === parent);

/** All branches, each after its parent, with its depth: 0 for the first. A loop, because imported branches may be deep. */
export function inOrder({ branches }: Tree): { branch: Branch; depth: number }[] {
  const children = new Map<number | null, Branch[]>();
  for (const branch of branches) {
    const siblings = children.get(branch.parent) ?? [];
    children.set(branch.parent, siblings);
    siblings.push(branch);
  }
  const found: { branch: Branch; depth: number }[] = [];
  const waiting: typeof found = [];
  const add = (parent: number | null, depth: number) => {
    for (const branch of (children.get(parent) ?? []).reverse()) waiting.push({ branch, depth });
  };
  add(null, 0);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    found.push(next);
    add(next.branch.id, next.depth + 1);
  }
  return found;
}

/** A larger id is damaged: the next branches need larger ones. */
const mostId = 2 ** 52;

function parseLabel(value: unknown): BranchLabel | undefined {
  const { id, parent, name } = (value ?? {}) as Record<string, unknown>;
  if (!Number.isSafeInteger(id) || Number(id) > mostId || typeof name !== "string") return undefined;
  return { id: Number(id), parent: Number.isSafeInteger(parent) ? Number(parent) : null, name };
}

function parseBranch(value: unknown): Branch | undefined {
  const label = parseLabel(value);
  const kept = label && parseKept((value as Record<string, unknown>).kept);
  return kept && { ...label, kept };
}

/** Parses a step; undefined if it is invalid. */
export function parseMove(value: unknown): Move | undefined {
  const { kind, from, to } = (value ?? {}) as Record<string, unknown>;
  const ends = { from: parseLabel(from), to: parseLabel(to) };
  if ((kind !== "walk" && kind !== "make" && kind !== "unmake") || !ends.from || !ends.to) return undefined;
  return { kind, from: ends.from, to: ends.to };
}

/** Parses a change; undefined if it is invalid. */
export function parseChange(value: unknown): TreeStep | undefined {
  const { kind, id, name, branch, place, children, tree } = (value ?? {}) as Record<string, unknown>;
  const isId = (each: unknown): each is number => Number.isSafeInteger(each);
  if (kind === "rename") return isId(id) && typeof name === "string" ? { kind, id, name } : undefined;
  if (kind === "remove") return isId(id) ? { kind, id } : undefined;
  if (kind === "replace") return { kind, tree: parseTree(tree) };
  const restored = kind === "restore" ? parseBranch(branch) : undefined;
  if (!restored || !isId(place) || !Array.isArray(children)) return undefined;
  return { kind: "restore", branch: restored, place, children: children.filter(isId) };
}

/** Parses a tree and skips invalid branches; undefined without a valid current branch. */
export function parseTree(value: unknown): Tree | undefined {
  const { branches, current } = (value ?? {}) as Record<string, unknown>;
  const found = new Map<number, Branch>();
  for (const each of Array.isArray(branches) ? branches : []) {
    const branch = parseBranch(each);
    if (!branch || found.has(branch.id)) continue;
    // A parent comes before its branches, so no branch can be its own parent.
    const parent = branch.parent !== null && found.has(branch.parent) ? branch.parent : null;
    found.set(branch.id, { ...branch, parent });
  }
  if (typeof current !== "number" || !found.has(current)) return undefined;
  return { branches: [...found.values()], current };
}
