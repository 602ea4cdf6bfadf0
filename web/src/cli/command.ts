// A command of the program: one table describes its arguments to the parser and to --help.
import { parseArgs } from "node:util";
import { UsageError } from "./messages.js";

export interface Option {
  /** The name of its value; undefined for a flag. */
  value?: string;
  help: string;
  /** May be given several times. */
  isList?: boolean;
}

export interface Values {
  flag(name: string): boolean;
  /** The value of an option; undefined if it was not given. */
  text(name: string): string | undefined;
  list(name: string): string[];
}

export interface Command {
  name: string;
  summary: string;
  /** Names and descriptions; the name of an optional one is in brackets. */
  operands: readonly (readonly [name: string, help: string])[];
  options: Readonly<Record<string, Option>>;
  /** The end of --help. */
  more?: string;
  run(operands: readonly string[], values: Values, signal: AbortSignal): Promise<void>;
}

const helpOption: Option = { help: "Print this help message and exit" };

/** Reads the arguments of `command`. Throws a UsageError, or an error of parseArgs. */
export function readArguments({ name, operands, options }: Command, args: readonly string[]) {
  const all = Object.entries({ ...options, help: helpOption });
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: Object.fromEntries(
      all.map(([name, { value, isList = false }]) => [
        name,
        {
          type: value === undefined ? ("boolean" as const) : ("string" as const),
          multiple: isList,
          ...(name === "help" && { short: "h" }),
        },
      ]),
    ),
  });
  const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
  const listOf = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
  const read: Values = {
    flag: (name) => values[name] === true,
    text: (name) => textOf(values[name]),
    list: (name) => listOf(values[name]),
  };
  const least = operands.filter(([name]) => !name.startsWith("[")).length;
  const isRight = positionals.length >= least && positionals.length <= operands.length;
  if (!isRight && !read.flag("help")) {
    const expected = operands.map(([name]) => name).join(" ");
    const found = `${positionals.length} argument${positionals.length === 1 ? "" : "s"}`;
    throw new UsageError(`${name}: expected ${expected}, found ${found}: see gpt2-wasm ${name} --help`);
  }
  return { positionals, values: read };
}

/** The widest left column; the texts of --help begin after it. */
const column = 24;

const row = (left: string, help: string) =>
  `  ${left.padEnd(column)}${left.length < column ? "" : `\n${" ".repeat(column + 2)}`}${help}\n`;

/** The text of `gpt2-wasm NAME --help`. */
export function helpOf({ name, summary, operands, options, more }: Command): string {
  const usage = `Usage: gpt2-wasm ${name} [OPTIONS] ${operands.map(([name]) => name).join(" ")}\n\n${summary}\n`;
  const rows = Object.entries(options).map(([name, { value, help }]) =>
    row(`--${name}${value === undefined ? "" : ` ${value}`}`, help),
  );
  const given = operands.map(([name, help]) => row(name, help)).join("");
  const all = `${rows.join("")}${row("-h, --help", helpOption.help)}`;
  return `${usage}\n${given}\nOptions:\n${all}${more === undefined ? "" : `\n${more}\n`}`;
}
