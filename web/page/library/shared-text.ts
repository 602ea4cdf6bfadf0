// A text in a link. If the model's last run is still in the text, the link carries its options, seed and hash instead of
// the run. The reader's model then writes it again.
import type { Change, GenerateOptions } from "../../src/client/index.js";
import { joined } from "../../src/shared/joined.js";
import type { KeptText, Part } from "../document/kept-text.js";
import { areFields, parseFields } from "../document/parse-fields.js";
import { parseParts } from "../document/parse-kept.js";
import { asLines } from "../document/pieces.js";
import { phrase } from "../language/editor.js";
import { formatBytes } from "../language/numbers.js";
import { mostUnits, type ContextFields } from "../state/context-fields.js";
import { parseChange, parseOptions } from "./parse-options.js";

/** The text around the part that the reader's model writes again. */
export interface SurroundingText {
  /** The text before that part; without such a part, before the caret. */
  prompt: string;
  /** The text after it. */
  after: string;
  /** The ranges of both together that a model wrote. */
  written: readonly Readonly<Part>[];
}

export interface SharedText extends SurroundingText {
  /** Including the seed and the number of tokens of the run; without a run, the current options. */
  options: GenerateOptions;
  /** The fields that the model reads besides the text; missing if both are empty. */
  fields?: ContextFields;
  /** The parts of the model that are switched off; missing if there are none. */
  change?: readonly Change[];
  /** SHA-256 of the run, in hexadecimal; undefined without a run. */
  hash?: string | undefined;
}

/** Whether `text` begins with the last run and its prompt. */
export const stillContains = (text: string, last: { prompt: string; text: string }): boolean =>
  text.startsWith(last.prompt + asLines(last.text));

/** The text around the run `anew`, which it contains, or around the caret. */
export function textAround(
  { text, caret, written }: KeptText,
  anew: { prompt: string; text: string } | undefined,
): SurroundingText {
  const from = anew?.prompt.length ?? caret;
  const to = from + asLines(anew?.text ?? "").length;
  const parts = written.flatMap(([start, end, ...lang]): Readonly<Part>[] => [
    [start, Math.min(end, from), ...lang],
    [Math.max(start, to) - to + from, end - to + from, ...lang],
  ]);
  return {
    prompt: text.slice(0, from),
    after: text.slice(to),
    written: parts.filter(([start, end]) => start < end),
  };
}

/** The most bytes that a fragment may decompress to: a short fragment could expand to gigabytes. */
const mostBytes = 1_000_000;

class TooLongError extends Error {
  constructor() {
    super(phrase("linkTooLong", { most: formatBytes(mostBytes) }));
  }
}

/** Throws a TooLongError as soon as the output exceeds `mostBytes`. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value);
    length += next.value.length;
    if (length <= mostBytes) continue;
    await reader.cancel();
    throw new TooLongError();
  }
  return joined(chunks);
}

/** The form in a fragment: compressed, in base64 with characters that need no escaping. Throws if nobody could open it. */
export async function toFragment(passage: SharedText): Promise<string> {
  const json = new TextEncoder().encode(JSON.stringify(passage));
  if (json.length > mostBytes) throw new TooLongError();
  const bytes = await through(json, new CompressionStream("deflate-raw"));
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The text in a fragment of `toFragment`. Anything else is an error in the words of the page, with its cause. */
export async function fromFragment(fragment: string): Promise<SharedText> {
  try {
    return await parseFragment(fragment);
  } catch (error) {
    if (error instanceof TooLongError) throw error;
    throw new Error(phrase("linkDamaged"), { cause: error });
  }
}

async function parseFragment(fragment: string): Promise<SharedText> {
  const letters = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const json = new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  // Links of an earlier release have no text after the run, and do not say who wrote the rest.
  const {
    prompt,
    after = "",
    written,
    options,
    fields,
    change,
    hash,
  } = (JSON.parse(json) ?? {}) as Record<string, unknown>;
  const isText = typeof prompt === "string" && typeof after === "string";
  if (
    !isText ||
    (hash !== undefined && typeof hash !== "string") ||
    typeof options !== "object" ||
    !options
  ) {
    throw new Error("expected a prompt, options and a hash");
  }
  if (!areFields(fields))
    throw new Error(`expected two fields of at most ${mostUnits} UTF-16 code units besides the text`);
  const set = parseFields(fields);
  const off = parseChange(change);
  return {
    prompt: asLines(prompt),
    after: asLines(after),
    written: parseParts(written),
    options: parseOptions(options),
    ...(set && { fields: set }),
    ...(off.length > 0 && { change: off }),
    hash,
  };
}
