// Recognizes what a host or a checkout has in place of a file.
import { LoadError } from "../../shared/errors.js";
import { describeValue } from "../../shared/refuse.js";
import { chunksOf, type OpenFile } from "./model-source.js";

/** Bytes to examine. */
const beginning = 64;
/** The fewest bytes that identify a file: the length at the start of safetensors, or GGUF's name and version. */
const leastBytes = 8;

// Decoded as a stream, because the last character may be cut.
const startOf = (bytes: Uint8Array) =>
  new TextDecoder().decode(bytes.subarray(0, beginning), { stream: true }).trimStart();

/** Throws a LoadError if the file `name`, whose first bytes are `bytes`, is a pointer or a page in place of a file. */
export function checkContents(name: string, bytes: Uint8Array): void {
  const text = startOf(bytes);
  if (text.startsWith("version https://git-lfs.github.com/")) {
    throw new LoadError(
      "corrupt",
      `${name} is a Git LFS pointer: run \`git lfs pull\` in the model's repository, and use the file that it fetches`,
    );
  }
  if (/^<(!doctype|html)\b/i.test(text)) {
    const found = new LoadError("corrupt", `${name} is a web page: its host answers so, or it was saved so`);
    throw Object.assign(found, { mayBeMissing: true });
  }
}

/** As checkContents. Quotes any other text at the beginning of `bytes` as the end of a sentence; "" if it is not text. */
export function quotedText(name: string, bytes: Uint8Array): string {
  checkContents(name, bytes);
  const text = startOf(bytes);
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
    const text = isFirst && chunk.length >= leastBytes ? quotedText(name, chunk) : "";
    if (text !== "") throw new LoadError("corrupt", `${name} is not a file of weights${text}`);
    isFirst = false;
    yield chunk;
  }
}
