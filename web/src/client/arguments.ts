// Checks what callers pass before it is sent, so that errors name what the worker would lose or refuse. The engine
// itself checks the ranges of the sampling options.
import { refuse, describeValue } from "../shared/refuse.js";
import type { GenerateOptions } from "../shared/types.js";
import { limits, list, atField, text, checkLength } from "../shared/wire.js";
import { suggestion } from "./suggestions.js";

type Fields = Readonly<Record<string, unknown>>;

/** The options of `call` without those that are undefined or null. Refuses names that are not in `names`. */
export function readOptions(call: string, value: unknown, names: readonly string[]): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    return refuse(`the options of ${call} are ${describeValue(value)}, expected an object`);
  }
  const fields: [string, unknown][] = Object.entries(value);
  for (const [name] of fields) {
    if (names.includes(name)) continue;
    const help = suggestion(name, names);
    const expected = `expected one of ${names.join(", ")}`;
    refuse(
      `unknown option ${describeValue(name)} of ${call}${help ? `: ${help} E${expected.slice(1)}` : `, ${expected}`}`,
    );
  }
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined && field !== null));
}

export function readSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined || value === null) return undefined; // null means none, as in fetch
  // A signal of another window has another class.
  const isSignal = typeof value === "object" && "aborted" in value && "addEventListener" in value;
  return isSignal
    ? (value as AbortSignal)
    : refuse(`signal is ${describeValue(value)}, expected an AbortSignal`);
}

/** A function, or undefined. Its parameters and result cannot be checked. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- a cast, at the boundary
export function readFunction<F>(name: string, value: unknown): F | undefined {
  if (value === undefined || typeof value === "function") return value as F | undefined;
  return refuse(`${name} is ${describeValue(value)}, expected a function`);
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- as above
export function readCallback<T>(name: string, value: unknown): ((event: T) => void) | undefined {
  return readFunction<(event: T) => void>(name, value);
}

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

const isIds = (value: unknown): value is ArrayLike<unknown> & Iterable<unknown> =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

/** Token ids as a plain array, from any kind of array, also of 64-bit integers and through a proxy. */
export function readTokenIds(name: string, value: unknown): number[] {
  if (!isIds(value)) return refuse(`${name} is ${describeValue(value)}, expected an array of token ids`);
  atField(name, () => checkLength(value, limits.tokenIds, "elements"))(value);
  return Array.from(value, (given, index) => {
    const id = typeof given === "bigint" ? Number(given) : given;
    const isId = typeof id === "number" && Number.isInteger(id) && id >= 0 && id <= 0xffffffff;
    return isId ? id : refuse(`${name}[${index}] is ${describeValue(given)}, expected a token id`);
  });
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

/** Every option of a generation. The engine has the same list; GenerateOptions in types.ts documents them. */
const isGenerateOption: Readonly<Record<keyof GenerateOptions, true>> = {
  maxNewTokens: true,
  temperature: true,
  topK: true,
  topP: true,
  minP: true,
  typicalP: true,
  noRepeatNgramSize: true,
  repetitionPenalty: true,
  n: true,
  lookup: true,
  heal: true,
  seed: true,
  stop: true,
  ignoreEos: true,
  logprobs: true,
  strict: true,
  allowSpecial: true,
};
export const generateOptionNames: readonly string[] = Object.keys(isGenerateOption);

/**
 * Options in a form that JSON can represent. The engine checks their names and ranges; the worker checks those of
 * inspect.
 */
export function readGenerateOptions(fields: Fields): GenerateOptions {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, readOption(name, value)]));
}
