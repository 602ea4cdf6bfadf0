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

/** A part that can be switched off. */
const part = /^blocks\.\d+\.(?:attn\.z|mlp_out)$/;

/** The members of the list `value` that switch a head or an MLP off. The engine checks whether the model has it. */
export function parseChange(value: unknown): readonly Change[] {
  const all = new Map<string, Change>();
  for (const each of Array.isArray(value) ? (value as unknown[]) : []) {
    const { at, head, set } = Object(each) as Record<string, unknown>;
    if (typeof at !== "string" || !part.test(at) || set !== 0) continue;
    if (at.endsWith(".mlp_out") && head === undefined) all.set(at, { at, set });
    else if (at.endsWith(".attn.z") && Number.isInteger(head))
      all.set(`${at} ${String(head)}`, { at, head: Number(head), set });
  }
  return [...all.values()];
}
