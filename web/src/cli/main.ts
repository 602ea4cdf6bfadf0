// Chooses the command, and reports its error.
import { Gpt2Error } from "../shared/errors.js";
import { release } from "../shared/release.js";
import { tokenAdvice } from "../model/sources/hub-source.js";
import { helpOf, readArguments, type Command } from "./command.js";
import { convert } from "./convert.js";
import { generate } from "./generate.js";
import { list } from "./list.js";
import { CommandError, print, say, UsageError } from "./messages.js";
import { serve } from "./serve.js";

const commands: readonly Command[] = [convert, generate, serve, list];

const overview = `Usage: gpt2-wasm COMMAND ...

GPT-2 in WebAssembly, from the command line.

Commands:
${commands.map(({ name, summary }) => `  ${name.padEnd(12)}${summary.split(/\.\s/)[0]?.replace(/\.$/, "")}\n`).join("")}
gpt2-wasm COMMAND --help explains a command; gpt2-wasm --version prints the version.
`;

async function run([name = "", ...args]: readonly string[], signal: AbortSignal): Promise<void> {
  if (name === "--version") return print(`${release.replace(/-[0-9a-f]{8}$/, "")}\n`);
  if (name === "--help" || name === "-h") return print(overview);
  const command = commands.find((each) => each.name === name);
  if (!command) {
    const found = name === "" ? "no command" : `the unknown command "${name}"`;
    throw new UsageError(`found ${found}, expected ${commands.map(({ name }) => name).join(", ")} or --help`);
  }
  const { positionals, values } = readArguments(command, args);
  if (values.flag("help")) return print(helpOf(command));
  return command.run(positionals, values, signal);
}

/** The module's own advice is for programs. */
const inWords = (message: string) => message.replaceAll(`pass ${tokenAdvice}`, "set HF_TOKEN to your token");

/** Runs the program with `args` until it ends or `signal` is aborted. Returns the exit status. */
export async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  try {
    await run(args, signal);
    return 0;
  } catch (error) {
    const { code, message, stack } = Object(error) as NodeJS.ErrnoException;
    const isUsage = error instanceof UsageError || code?.startsWith("ERR_PARSE_ARGS");
    const isExpected = error instanceof CommandError || error instanceof Gpt2Error || code !== undefined;
    if (signal.aborted) say(`gpt2-wasm: stopped by ${String(signal.reason)}`);
    else if (isExpected) say(`gpt2-wasm: ${inWords(message)}`);
    else say(`gpt2-wasm: this is a bug in the program: ${stack}`);
    const status = signal.reason === "SIGTERM" ? 143 : 130; // 128 and the number of the signal, as shells report it
    return signal.aborted ? status : isUsage ? 2 : 1;
  }
}
