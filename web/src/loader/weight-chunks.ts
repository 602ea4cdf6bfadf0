// Tells the message that a host sends in place of weights from weights.
import { LoadError } from "../shared/errors.js";
import { describeValue } from "../shared/refuse.js";
import { chunksOf, type OpenFile } from "./model-source.js";

/** Looked at, in bytes. */
const beginning = 64;
/** The fewest bytes that tell: the length that safetensors files begin with, or GGUF's name and version. */
const leastBytes = 8;

/** Quotes the beginning of `bytes` as the end of a sentence; "" where they are not text. */
export function quotedText(bytes: Uint8Array): string {
  // As a stream: the last character may be cut.
  const text = new TextDecoder().decode(bytes.subarray(0, beginning), { stream: true });
  const isText = /\S/.test(text) && !/[^\P{C}\s]|\ufffd/u.test(text);
  return isText ? `: it begins with the text ${describeValue(text.replace(/\s+/g, " ").trim())}` : "";
}

/** As chunksOf, of a file of weights that states no hash. Throws a LoadError where it begins with text. */
export async function* weightChunksOf(
  file: OpenFile,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  let isFirst = true;
  for await (const chunk of chunksOf(file, name, signal)) {
    const text = isFirst && chunk.length >= leastBytes ? quotedText(chunk) : "";
    if (text !== "") throw new LoadError("corrupt", `${name} is not a file of weights${text}`);
    isFirst = false;
    yield chunk;
  }
}
