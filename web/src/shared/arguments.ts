// Checks the arguments of a call: an error names the argument and its value.
import { describeValue, refuse } from "./refuse.js";
import { suggestion } from "./suggestions.js";
import { atField, checkLength, limits } from "./wire.js";

/** Named values that a caller passed. */
export type Fields = Readonly<Record<string, unknown>>;

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

export const isIds = (value: unknown): value is ArrayLike<unknown> & Iterable<unknown> =>
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
