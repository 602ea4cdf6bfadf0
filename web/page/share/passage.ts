// What the model wrote at a time, as a link carries it: whatever it takes to get the very same text again.
import type { GenerateOptions } from "../../src/client/index.js";
import { formatBytes } from "../../src/shared/format-bytes.js";
import { joined } from "../../src/shared/joined.js";

export interface Passage {
  prompt: string;
  /** With the seed, and the number of tokens that were written. */
  options: GenerateOptions;
  /** SHA-256 of what was written, in hexadecimal. */
  hash: string;
}

const numbers = new Set(["maxNewTokens", "temperature", "topK", "topP", "minP", "repetitionPenalty", "seed"]);
const flags = new Set(["ignoreEos", "heal"]);

/** What a fragment may unpack to: a few letters of it could become gigabytes. */
const mostBytes = 1_000_000;

/** The options among `fields`; the engine checks their ranges. */
function readOptions(fields: object): GenerateOptions {
  const options = Object.entries(fields).filter(([name, value]) => {
    if (numbers.has(name)) return typeof value === "number";
    if (flags.has(name)) return typeof value === "boolean";
    return name === "stop" && Array.isArray(value) && value.every((each) => typeof each === "string");
  });
  return Object.fromEntries(options);
}

/** Throws once more than `mostBytes` come out. */
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
    throw new Error(`expected a text of at most ${formatBytes(mostBytes)}, found more`);
  }
  return joined(chunks);
}

/** As a fragment has it: compressed, in the letters of base64 that addresses need not escape. */
export async function toFragment(passage: Passage): Promise<string> {
  const json = new TextEncoder().encode(JSON.stringify(passage));
  const bytes = await through(json, new CompressionStream("deflate-raw"));
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Throws where it is no fragment of `toFragment`. */
export async function fromFragment(fragment: string): Promise<Passage> {
  const letters = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const json = new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  const { prompt, options, hash } = (JSON.parse(json) ?? {}) as Record<string, unknown>;
  if (typeof prompt !== "string" || typeof hash !== "string" || typeof options !== "object" || !options) {
    throw new Error("expected a prompt, options and a hash");
  }
  // Lines as the editor has them.
  return { prompt: prompt.replace(/\r\n?/g, "\n"), options: readOptions(options), hash };
}
