// Generation options and changes from a link or from storage, which anyone may have written.
import type { Change, GenerateOptions } from "../../src/client/index.js";
import { numberOptionNames } from "../../src/shared/generate-options.js";

const numbers = new Set<string>(numberOptionNames);
const flags = new Set(["ignoreEos", "heal"]);

/** The fields of `value` that are options of the right type. The engine checks their ranges. */
export function parseOptions(value: unknown): GenerateOptions {
  const options = Object.entries(Object(value) as object).filter(([name, value]) => {
    if (numbers.has(name)) return Number.isFinite(value); // JSON's 1e999 is Infinity, which it cannot write again
    if (flags.has(name)) return typeof value === "boolean";
    return name === "stop" && Array.isArray(value) && value.every((each) => typeof each === "string");
  });
  return Object.fromEntries(options);
}

/** The members of the list `value` that switch a part off. The engine checks whether the model has that part. */
export function parseChange(value: unknown): readonly Change[] {
  const all = Array.isArray(value) ? (value as unknown[]) : [];
  return all.flatMap((each): Change[] => {
    const { at, head, set } = Object(each) as Record<string, unknown>;
    if (typeof at !== "string" || set !== 0) return [];
    return [typeof head === "number" ? { at, head, set } : { at, set }];
  });
}
