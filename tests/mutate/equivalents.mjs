// Faults that change nothing that a test could or should notice: equivalent.json lists them, each with its reason.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allFaults, isOf } from "./sources.mjs";

/**
 * `[{ file, code, faults?, nth?, reason }]`: `code` is the line's code. `faults` lists the faults on it as "before ->
 * after"; without it, all are meant. `nth` picks one of several equal faults on the line, from 1; without it, each is
 * meant.
 */
export function readEquivalents() {
  return JSON.parse(readFileSync(join(import.meta.dirname, "equivalent.json"), "utf8"));
}

/** Throws if an entry names code or a fault that no longer exists. */
export function checkEquivalents(root, files, entries) {
  const faults = allFaults(root, files, []);
  for (const entry of entries) {
    const named = entry.faults?.map((fault) => ({ ...entry, faults: [fault] })) ?? [entry];
    for (const one of named) {
      if (faults.some((fault) => isOf(one, fault))) continue;
      throw new Error(`equivalent.json is stale: ${JSON.stringify(one)} cannot be planted any more`);
    }
    if (!entry.reason) throw new Error(`equivalent.json gives no reason for ${JSON.stringify(entry)}`);
  }
}
