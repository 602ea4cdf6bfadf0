// The branches of a text: where another token was chosen, the text before the choice and after it are both kept.
import type { KeptText } from "../editor/editor.js";
import { parseKept } from "../editor/parse-kept.js";

export interface Branch {
  readonly id: number;
  /** null: the first one. */
  readonly parent: number | null;
  name: string;
  /** As it was when it was left. */
  kept: KeptText;
}

export interface Tree {
  branches: readonly Branch[];
  current: number;
}

/** The tree once the text `kept` is left for a branch of it, named `name`; without one so far, the other is `firstName`. */
export function fork(tree: Tree | undefined, kept: KeptText, name: string, firstName: string): Tree {
  const before = tree ?? { branches: [{ id: 0, parent: null, name: firstName, kept }], current: 0 };
  const { branches, current } = leave(before, kept);
  const id = Math.max(...branches.map((branch) => branch.id)) + 1;
  return { branches: [...branches, { id, parent: current, name, kept }], current: id };
}

/** The tree with `kept` as the text of the current branch. */
export function leave({ branches, current }: Tree, kept: KeptText): Tree {
  return {
    branches: branches.map((branch) => (branch.id === current ? { ...branch, kept } : branch)),
    current,
  };
}

export function rename({ branches, current }: Tree, id: number, name: string): Tree {
  return { branches: branches.map((branch) => (branch.id === id ? { ...branch, name } : branch)), current };
}

/** The tree without the branch `id`, which is neither the first nor the current one; its own branches go to its parent. */
export function remove({ branches, current }: Tree, id: number): Tree {
  const removed = branches.find((branch) => branch.id === id);
  const others = branches.filter((branch) => branch !== removed);
  const parent = removed?.parent ?? null;
  return {
    branches: others.map((branch) => (branch.parent === id ? { ...branch, parent } : branch)),
    current,
  };
}

export const childrenOf = ({ branches }: Tree, parent: number | null): Branch[] =>
  branches.filter((branch) => branch.parent === parent);

function parseBranch(value: unknown): Branch | undefined {
  const { id, parent, name, kept } = (value ?? {}) as Record<string, unknown>;
  const text = parseKept(kept);
  if (!Number.isSafeInteger(id) || typeof name !== "string" || !text) return undefined;
  return { id: Number(id), parent: Number.isSafeInteger(parent) ? Number(parent) : null, name, kept: text };
}

/** The tree that `value` is, without what of it is no branch; undefined where nothing tells which is the current one. */
export function parseTree(value: unknown): Tree | undefined {
  const { branches, current } = (value ?? {}) as Record<string, unknown>;
  const found = new Map<number, Branch>();
  for (const each of Array.isArray(branches) ? branches : []) {
    const branch = parseBranch(each);
    if (!branch || found.has(branch.id)) continue;
    // Each comes after its parent, so that none is its own.
    const parent = branch.parent !== null && found.has(branch.parent) ? branch.parent : null;
    found.set(branch.id, { ...branch, parent });
  }
  if (typeof current !== "number" || !found.has(current)) return undefined;
  return { branches: [...found.values()], current };
}
