// What the program writes to the terminal. A host, a file or an argument may put any character into a message.

/** An error that the user can act on: its message says what to do, and no stack is shown. */
export class CommandError extends Error {}

/** Wrong usage: exit status 2. */
export class UsageError extends CommandError {}

/** Control characters, marks that reorder a line, line separators, and halves of surrogate pairs. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** No token is shorter, and a shorter text could be part of any word. */
const shortestToken = 8;

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** `text` as one line that cannot control a terminal, without the value of HF_TOKEN. */
export function visible(text: string): string {
  const token = process.env.HF_TOKEN ?? "";
  const shown = token.length < shortestToken ? text : text.replaceAll(token, "[HF_TOKEN]");
  return shown.replace(invisible, (found) => found.split("").map(escaped).join(""));
}

/** Writes a line to standard error. */
export const say = (text: string): void => void process.stderr.write(`${visible(text)}\n`);

/** Writes to standard output. Rejects if that fails, for example because the disk is full. */
export const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(new CommandError(`cannot write standard output: ${error.message}`));
    process.stdout.once("error", fail);
    process.stdout.write(text, (error) => {
      if (error) return; // the event reports it
      process.stdout.off("error", fail);
      resolve();
    });
  });
