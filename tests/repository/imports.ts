// The imports between files of web/, including types and modules that are fetched later.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { read, root } from "./files.js";

/** An import from one file to another; `isType`: it is gone when the code runs; `isLater`: by `import()`. */
export interface Import {
  from: string;
  to: string;
  isType: boolean;
  isLater: boolean;
}

const statement = /^(?:import|export)\s+(type\b)?(?:[^;"]*?\bfrom\s+)?"(\.[^"]+)\.(js|mjs)"/gm;
const call = /\bimport\(\s*"(\.[^"]+)\.(js|mjs)"\s*\)/g;

/** The imports of `file` that lead to another source of the repository. */
export function importsOf(file: string): Import[] {
  const text = read(file);
  const targetOf = (path: string, ending: string) =>
    `${join(dirname(file), path)}.${ending === "js" ? "ts" : ending}`;
  const found = [
    ...[...text.matchAll(statement)].map(([, type, path = "", ending = ""]) => ({
      from: file,
      to: targetOf(path, ending),
      isType: type !== undefined,
      isLater: false,
    })),
    ...[...text.matchAll(call)].map(([, path = "", ending = ""]) => ({
      from: file,
      to: targetOf(path, ending),
      isType: false,
      isLater: true,
    })),
  ];
  return found.filter(({ to }) => existsSync(join(root, to)));
}

/** Groups of nodes that reach each other, of two or more. */
export function cyclesOf(nodes: readonly string[], next: (node: string) => readonly string[]): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): number => {
    const mine = index.size;
    index.set(node, mine);
    low.set(node, mine);
    stack.push(node);
    for (const other of next(node)) {
      const reached = index.has(other)
        ? stack.includes(other)
          ? index.get(other)
          : undefined
        : visit(other);
      if (reached !== undefined) low.set(node, Math.min(low.get(node) ?? mine, reached));
    }
    if (low.get(node) !== mine) return low.get(node) ?? mine;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) cycles.push(group.sort());
    return mine;
  };
  for (const node of nodes) if (!index.has(node)) visit(node);
  return cycles;
}
