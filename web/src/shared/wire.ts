// Readers of what comes from outside: each returns the value that it was given, with its type, or refuses it. An error
// names the field as a path, such as "options.stop[2]". Lists and texts are measured before they are looked into.
import { InvalidArgumentError } from "./errors.js";
import { refuse, shown } from "./refuse.js";

/** Throws an InvalidArgumentError whose message begins with what stands behind the name of the value. */
export type Read<T> = (value: unknown) => T;

/** More than these takes no request, whoever sends it. The engine checks stop strings in bytes: kMostStops in options.h. */
export const limits = {
  /** Characters of a prompt, which are at least as many bytes. */
  text: 2 ** 26,
  tokenIds: 2 ** 24,
  stops: 256,
  stopLength: 1024,
  /** Characters of an address, a file's name, a key. */
  name: 2 ** 16,
  headers: 1000,
  files: 100_000,
  adapters: 100,
  /** Of an object whose members have any names. */
  members: 10_000,
  /** That wait for their turn. */
  requests: 100_000,
} as const;

/** `read`, whose errors name `field`. */
export const named =
  <T>(field: string, read: Read<T>): Read<T> =>
  (value) => {
    try {
      return read(value);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      return refuse(field + (/^\w/.test(error.message) ? "." : "") + error.message);
    }
  };

export const is =
  <T>(expected: string, test: (value: unknown) => boolean): Read<T> =>
  (value) =>
    test(value) ? (value as T) : refuse(` is ${shown(value)}, expected ${expected}`);

/** `value`, unless it is longer than `most`. */
export const within = <T extends { readonly length: number }>(value: T, most: number, unit: string): T =>
  value.length <= most ? value : refuse(` has ${value.length} ${unit}, expected at most ${most}`);

export const flag: Read<boolean> = is("true or false", (value) => typeof value === "boolean");
export const amount: Read<number> = is(
  "a number of at least 0",
  (value) => typeof value === "number" && value >= 0,
);
export const anyNumber: Read<number> = is("a number", (value) => typeof value === "number");
export const count = (least: number, most: number): Read<number> =>
  is(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  );
export const whole = count(0, Number.MAX_SAFE_INTEGER);
export const choice = <const T extends string>(choices: readonly T[]): Read<T> =>
  is(`one of ${choices.join(", ")}`, (value) => choices.some((each) => each === value));

const anyText: Read<string> = is("text", (value) => typeof value === "string");
export const text =
  (most: number): Read<string> =>
  (value) =>
    within(anyText(value), most, "characters");

const anyList: Read<readonly unknown[]> = is("an array", Array.isArray);
export const list =
  <T>(read: Read<T>, most: number): Read<T[]> =>
  (value) => {
    const items = within(anyList(value), most, "elements");
    for (let place = 0; place < items.length; place += 1) {
      try {
        read(items[place]);
      } catch {
        named(`[${place}]`, read)(items[place]);
      }
    }
    return items as T[];
  };

export const optional =
  <T>(read: Read<T>): Read<T | undefined> =>
  (value) =>
    value === undefined ? undefined : read(value);

export const anyObject: Read<Readonly<Record<string, unknown>>> = is(
  "an object",
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);

/** A reader for each member of `T`; a member that may be missing takes one that takes undefined. */
type Fields<T> = {
  readonly [K in keyof T]-?: Read<object extends Pick<T, K> ? T[K] | undefined : T[K]>;
};

/** What `T` has to have. Other members are left as they are. */
export const record =
  <T>(fields: Fields<T>): Read<T> =>
  (value) => {
    const object = anyObject(value);
    for (const [field, read] of Object.entries<Read<unknown>>(fields)) named(field, read)(object[field]);
    return object as T;
  };

/** An object with at most `most` members, each of them read alike. */
export const members =
  <T>(read: Read<T>, most: number = limits.members): Read<Readonly<Record<string, T>>> =>
  (value) => {
    const fields = Object.entries(anyObject(value));
    within(fields, most, "members");
    for (const [field, each] of fields) {
      text(limits.name)(field);
      named(field, read)(each);
    }
    return value as Readonly<Record<string, T>>;
  };
