// Errors about a caller's arguments.
import { InvalidArgumentError } from "./errors.js";

export function refuse(message: string): never {
  throw new InvalidArgumentError("invalid-argument", message);
}

/** A value as messages show it: text is quoted and cut to 40 characters, objects and arrays are only named. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length > 40 ? `"${value.slice(0, 40)}…"` : `"${value}"`;
    case "function":
      return "a function";
    case "symbol":
      return "a symbol";
    case "bigint":
      return `${value}n`;
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "an array" : "an object";
    default:
      return String(value);
  }
}

/** A whole number, or undefined. */
export function readCount(
  name: string,
  value: unknown,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
  return refuse(`${name} is ${describeValue(value)}, expected a whole number from ${range}`);
}
