// The repository's files, as text.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");
export const read = (path: string) => readFileSync(join(root, path), "utf8");
export const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter((file) => existsSync(join(root, file)));

/** The first group of `pattern` in a file, which has to match. */
export function found(path: string, pattern: RegExp): string {
  const group = pattern.exec(read(path))?.[1];
  if (group === undefined) throw new Error(`${path} has no ${pattern}`);
  return group;
}
/** The first groups of all its matches. */
export function allFound(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, group]) => group ?? "");
}
