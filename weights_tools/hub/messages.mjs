// Errors and messages of these tools. A hub, a file or an argument may put any character into them.

/** An error that the user can act on: its message says what to do, and no stack is shown. */
export class FetchError extends Error {}

/** Wrong usage of a command: exit status 2. */
export class UsageError extends FetchError {}

/** Control characters, marks that reorder a line, line separators, and halves of surrogate pairs. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** No token is shorter, and a shorter text could be part of any word. */
const shortestToken = 8;
const longestQuote = 100;

/** @param {string} unit */
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** @param {string} text */
function withoutToken(text) {
  const token = process.env.HF_TOKEN ?? "";
  return token.length < shortestToken ? text : text.replaceAll(token, "[HF_TOKEN]");
}

/**
 * `text` as one line that cannot control a terminal: invisible characters are escaped, and HF_TOKEN is replaced.
 * Every text for a terminal goes through here. JSON keeps its value.
 * @param {string} text
 */
export const visible = (text) =>
  withoutToken(text).replace(invisible, (found) => found.split("").map(escaped).join(""));

/**
 * A value from outside, for a message: a short text in quotes, or the kind of value.
 * @param {unknown} value
 */
export function quoted(value) {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  if (value === undefined) return "nothing";
  if (typeof value !== "string") return JSON.stringify(value);
  const text = withoutToken(value);
  const more = text.length > longestQuote ? `... (${text.length} characters)` : "";
  return visible(JSON.stringify(text.slice(0, longestQuote)) + more);
}

/**
 * The message of `error`, or of its cause: Node.js's own message is only "fetch failed".
 * @param {unknown} error
 * @returns {string}
 */
export function reasonOf(error) {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error)) return message;
  return cause.message || ("code" in cause ? String(cause.code) : message);
}

/**
 * Writes a line to standard error.
 * @param {string} text
 */
export const say = (text) => console.error(visible(text));

/**
 * Writes lines to standard output. Rejects if it cannot be written; console.log would be silent.
 * @param {string} text
 * @returns {Promise<void>}
 */
export const print = (text) =>
  new Promise((resolve, reject) => {
    const fail = (/** @type {Error} */ error) =>
      reject(new FetchError(`cannot write standard output: ${error.message}`, { cause: error }));
    process.stdout.once("error", fail);
    process.stdout.write(`${text.split("\n").map(visible).join("\n")}\n`, (error) => {
      if (error) return; // the event reports it
      process.stdout.off("error", fail);
      resolve();
    });
  });

/**
 * Runs `command`, reports its error, and ends the process: idle connections would keep it alive for seconds.
 * @param {string} name of the command
 * @param {() => Promise<void>} command
 */
export async function runCommand(name, command) {
  try {
    await command();
    process.exit(0);
  } catch (error) {
    const { code, message, stack } = /** @type {NodeJS.ErrnoException} */ (error);
    const isExpected = error instanceof FetchError || code !== undefined;
    say(`${name}: ${isExpected ? message : `this is a bug in the program: ${stack}`}`);
    process.exit(error instanceof UsageError || code?.startsWith("ERR_PARSE_ARGS") ? 2 : 1);
  }
}
