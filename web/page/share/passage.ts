// What the model wrote at a time, as a link carries it: whatever it takes to get the very same text again.
import type { GenerateOptions } from "../../src/client/index.js";

export interface Passage {
  prompt: string;
  /** With the seed, and the number of tokens that were written. */
  options: GenerateOptions;
  /** SHA-256 of what was written, in hexadecimal. */
  hash: string;
}

const isNumber: Readonly<Record<string, true>> = {
  maxNewTokens: true,
  temperature: true,
  topK: true,
  topP: true,
  minP: true,
  repetitionPenalty: true,
  seed: true,
};

const isFlag: Readonly<Record<string, true>> = { ignoreEos: true, heal: true };

/** The options among `fields`; the engine checks their ranges. */
function readOptions(fields: object): GenerateOptions {
  const options = Object.entries(fields).filter(([name, value]) => {
    if (isNumber[name]) return typeof value === "number";
    if (isFlag[name]) return typeof value === "boolean";
    return name === "stop" && Array.isArray(value) && value.every((each) => typeof each === "string");
  });
  return Object.fromEntries(options);
}

const through = async (bytes: Uint8Array<ArrayBuffer>, transform: GenericTransformStream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(transform)).arrayBuffer());

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
  return { prompt, options: readOptions(options), hash };
}
