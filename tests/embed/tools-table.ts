// The table of docs/how-to/bundlers.md: the results of tools.spec.ts for each tool and version.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./app.js";
import type { Delivery } from "./delivery.js";
import { tools, type Tool, type Version } from "./tools.js";

export interface Found {
  built: Delivery;
  /** undefined for tools that have no server. */
  development?: Delivery;
}

const file = join(root, "build/embed/found.json");
const keyOf = ({ name }: Tool, { version }: Version) => `${name} ${version}`;
const read = (): Record<string, Found> => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {});

/** Stores a result in a file, because after a failure Playwright runs the rest in another process. */
export function noteFound(tool: Tool, version: Version, found: Found): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...read(), [keyOf(tool, version)]: found }, null, 2));
}

export const head = ["tool", "versions", "built", "in development", "what to configure"];

/** One row for the versions of a tool that do the same. */
function rowsOf(tool: Tool, all: Readonly<Record<string, Found>>): string[][] {
  const groups = new Map<string, { versions: string[]; found: Found }>();
  for (const version of tool.versions) {
    const found = all[keyOf(tool, version)];
    if (!found) throw new Error(`${keyOf(tool, version)} has not passed: run the whole of tools.spec.ts`);
    const group = groups.get(JSON.stringify(found)) ?? { versions: [], found };
    groups.set(JSON.stringify(found), group);
    group.versions.push(version.version);
  }
  const works = (delivery?: Delivery) => (delivery ? `works, ${delivery}` : "");
  return [...groups.values()].map(({ versions, found }) => [
    `[${tool.name}](../../examples/${tool.example})`,
    versions.join(", "),
    works(found.built),
    works(found.development),
    tool.configuration ?? "",
  ]);
}

export const toolRows = (): string[][] => {
  const found = read();
  return [head, ...tools.flatMap((tool) => rowsOf(tool, found))];
};
