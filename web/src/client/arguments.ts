// Checks what callers pass before it is sent, so that errors name what the worker would lose or refuse. The engine
// itself checks the ranges of the sampling options.
import { refuse, describeValue } from "../shared/refuse.js";
import type { GenerateOptions } from "../shared/types.js";
import { isIds, readTokenIds, type Fields } from "../shared/arguments.js";
import { limits, list, atField, text } from "../shared/wire.js";

export function readFlag(name: string, value: unknown): boolean {
  if (value === undefined) return false;
  return typeof value === "boolean"
    ? value
    : refuse(`${name} is ${describeValue(value)}, expected true or false`);
}

export function readChoice<T extends string>(
  name: string,
  value: unknown,
  choices: readonly T[],
): T | undefined {
  if (value === undefined) return undefined;
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  const list = choices.map((choice) => `"${choice}"`).join(", ");
  return refuse(`${name} is ${describeValue(value)}, expected one of ${list}`);
}

/** Names and values of headers, from anything that `new Headers` accepts. */
export function readHeaders(name: string, value: unknown): [string, string][] {
  try {
    return [...new Headers(value as HeadersInit | undefined)];
  } catch (error) {
    return refuse(`${name} is ${describeValue(value)}, expected headers (${String(error)})`);
  }
}

export function readText(name: string, value: unknown): string {
  return atField(name, text(limits.text))(value);
}

export function readPrompt(name: string, value: unknown): string | number[] {
  if (typeof value === "string") return readText(name, value);
  if (isIds(value)) return readTokenIds(name, value);
  return refuse(`${name} is ${describeValue(value)}, expected text or an array of token ids`);
}

function readOption(name: string, value: unknown): unknown {
  switch (typeof value) {
    case "string":
      return atField(name, text(limits.stopLength))(value);
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : refuse(`${name} is ${value}, expected a finite number`);
    case "bigint": // a number cannot represent it exactly, so it is too large for the engine, too
      return readOption(name, Number(value));
    case "object":
      if (Array.isArray(value)) return [...atField(name, list(text(limits.stopLength), limits.stops))(value)];
  }
  return refuse(`${name} is ${describeValue(value)}, which no option accepts`);
}

/**
 * Options in a form that JSON can represent. The engine checks their names and ranges; the worker checks those of
 * inspect.
 */
export function readGenerateOptions(fields: Fields): GenerateOptions {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, readOption(name, value)]));
}
