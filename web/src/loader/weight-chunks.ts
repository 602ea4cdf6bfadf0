// Distinguishes weights from a message that a host sends in their place.
import { LoadError } from "../shared/errors.js";
import { describeValue } from "../shared/refuse.js";
import { chunksOf, type OpenFile } from "./model-source.js";

/** Bytes to examine. */
const beginning = 64;
/** The fewest bytes that identify a file: the length at the start of safetensors, or GGUF's name and version. */
const leastBytes = 8;

/** Quotes the beginning of `bytes` as the end of a sentence; "" if they are not text. */
export function quotedText(bytes: Uint8Array): string {
  // Decoded as a stream, because the last character may be cut.
  const text = new TextDecoder().decode(bytes.subarray(0, beginning), { stream: true });
  const isText = /\S/.test(text) && !/[^\P{C}\s]|\ufffd/u.test(text);
  return isText ? `: it begins with the text ${describeValue(text.replace(/\s+/g, " ").trim())}` : "";
}

/** As chunksOf, for a weights file without a hash. Throws a LoadError if it begins with text. */
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
