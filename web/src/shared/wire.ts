// Validators for data from outside: each returns its argument with its type, or throws. Errors name the field as a path,
// such as "options.stop[2]". The length of lists and texts is checked before their contents.
import { InvalidArgumentError } from "./errors.js";
import { refuse, describeValue } from "./refuse.js";

/** Throws an InvalidArgumentError whose message continues the name of the value. */
export type ReadValue<T> = (value: unknown) => T;

/** Limits of a request. The engine checks stop strings in bytes: kMostStops in options.h. */
export const limits = {
  /** Characters of a prompt. Each is at least one byte. */
  text: 2 ** 26,
  tokenIds: 2 ** 24,
  stops: 256,
  stopLength: 1024,
  /** Characters of an address, a file name or a key. */
  name: 2 ** 16,
  headers: 1000,
  files: 100_000,
  adapters: 100,
  /** Members of an object with arbitrary names; changes and captures of a request. */
  members: 10_000,
  /** Waiting requests. */
  requests: 100_000,
} as const;

/** `read`, with errors that name `field`. */
export const atField =
  <T>(field: string, read: ReadValue<T>): ReadValue<T> =>
  (value) => {
    try {
      return read(value);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      return refuse(field + (/^\w/.test(error.message) ? "." : "") + error.message);
    }
  };

export const readIf =
  <T>(expected: string, test: (value: unknown) => boolean): ReadValue<T> =>
  (value) =>
    test(value) ? (value as T) : refuse(` is ${describeValue(value)}, expected ${expected}`);

/** Returns `value` unless it is longer than `most`. */
export const checkLength = <T extends { readonly length: number }>(
  value: T,
  most: number,
  unit: string,
): T => (value.length <= most ? value : refuse(` has ${value.length} ${unit}, expected at most ${most}`));

export const flag: ReadValue<boolean> = readIf("true or false", (value) => typeof value === "boolean");
export const nonNegative: ReadValue<number> = readIf(
  "a number of at least 0",
  (value) => typeof value === "number" && value >= 0,
);
export const anyNumber: ReadValue<number> = readIf("a number", (value) => typeof value === "number");
export const wholeNumberBetween = (least: number, most: number): ReadValue<number> =>
  readIf(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  );
export const wholeNumber = wholeNumberBetween(0, Number.MAX_SAFE_INTEGER);
export const choice = <const T extends string>(choices: readonly T[]): ReadValue<T> =>
  readIf(`one of ${choices.join(", ")}`, (value) => choices.some((each) => each === value));

const anyText: ReadValue<string> = readIf("text", (value) => typeof value === "string");
export const text =
  (most: number): ReadValue<string> =>
  (value) =>
    checkLength(anyText(value), most, "characters");

const anyList: ReadValue<readonly unknown[]> = readIf("an array", Array.isArray);
export const list =
  <T>(read: ReadValue<T>, most: number): ReadValue<T[]> =>
  (value) => {
    const items = checkLength(anyList(value), most, "elements");
    for (let place = 0; place < items.length; place += 1) {
      try {
        read(items[place]);
      } catch {
        atField(`[${place}]`, read)(items[place]);
      }
    }
    return items as T[];
  };

export const optional =
  <T>(read: ReadValue<T>): ReadValue<T | undefined> =>
  (value) =>
    value === undefined ? undefined : read(value);

export const anyObject: ReadValue<Readonly<Record<string, unknown>>> = readIf(
  "an object",
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);

/** A validator for each member of `T`. A member that may be missing has one that accepts undefined. */
type Fields<T> = {
  readonly [K in keyof T]-?: ReadValue<object extends Pick<T, K> ? T[K] | undefined : T[K]>;
};

/** Checks the members of `T`. Other members are allowed and not checked. */
export const record =
  <T>(fields: Fields<T>): ReadValue<T> =>
  (value) => {
    const object = anyObject(value);
    for (const [field, read] of Object.entries<ReadValue<unknown>>(fields))
      atField(field, read)(object[field]);
    return object as T;
  };

/** An object with at most `most` members, each read by `read`. */
export const members =
  <T>(read: ReadValue<T>, most: number = limits.members): ReadValue<Readonly<Record<string, T>>> =>
  (value) => {
    const fields = Object.entries(anyObject(value));
    checkLength(fields, most, "members");
    for (const [field, each] of fields) {
      text(limits.name)(field);
      atField(field, read)(each);
    }
    return value as Readonly<Record<string, T>>;
  };
