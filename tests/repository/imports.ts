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
  const found = [
    ...[...text.matchAll(statement)].map(([, type, ...target]) => ({ type, target, isLater: false })),
    ...[...text.matchAll(call)].map(([, ...target]) => ({ type: undefined, target, isLater: true })),
  ].map(({ type, target: [path = "", ending = ""], isLater }) => {
    const to = `${join(dirname(file), path)}.${ending === "js" ? "ts" : ending}`;
    return { from: file, to, isType: type !== undefined, isLater };
  });
  return found.filter(({ to }) => existsSync(join(root, to)));
}

/** The nodes of cycles and between them: what remains after ends and beginnings of paths are removed repeatedly. */
export function cyclicOf(nodes: readonly string[], next: (node: string) => readonly string[]): string[] {
  const left = new Map(nodes.map((node) => [node, next(node)]));
  let size: number;
  do {
    size = left.size;
    for (const [node, others] of left) {
      const isReached = [...left.values()].some((targets) => targets.includes(node));
      if (!isReached || !others.some((other) => left.has(other))) left.delete(node);
    }
  } while (left.size < size);
  return [...left.keys()];
}
