// Reads the small files of a model folder.
import { joined } from "../../shared/joined.js";
import { LoadError } from "../../shared/errors.js";
import { checkTextSize } from "../limits.js";
import { chunksOf, isMissing, type ModelSource, type OpenFile } from "./model-source.js";
import { sha256 } from "../sha256.js";
import { ChangedFileError } from "./steady-fetch.js";
import { checkContents } from "./weight-chunks.js";
import { wrongHash, type Piece, type WeightsIndex } from "../weights-index.js";

/** weights.json, which may arrive after the files that it lists; undefined if there is none. */
export type IndexPromise = Promise<WeightsIndex | undefined>;

/** The entry of weights.json for a file. */
export const listingOf = async (index: IndexPromise | undefined, name: string): Promise<Piece | undefined> =>
  (await index)?.files?.find(({ path }) => path === name);

const again = 'Copy it again, with the line "* -text" in .gitattributes, and exclude it from formatting';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** All bytes of the small file `name`. If it is too large, cancels it and throws. */
export async function readWhole(
  file: OpenFile,
  name: string,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    checkTextSize(name, file.size ?? 0);
    for await (const chunk of chunksOf(file, name, signal)) {
      length += chunk.length;
      checkTextSize(name, length);
      chunks.push(chunk.slice());
    }
  } catch (error) {
    if (!file.stream.locked) file.stream.cancel().catch(() => {});
    throw error;
  }
  const bytes = joined(chunks);
  checkContents(name, bytes);
  return bytes;
}

/** The error for a listed text with another hash: of other line endings or formatting, if that explains it. */
async function wrongText(listed: Piece, bytes: Uint8Array<ArrayBuffer>, found: string): Promise<LoadError> {
  const { code, message } = wrongHash(listed, found);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replaceAll("\r\n", "\n");
  const hashes = ["\n", "\r\n"].map((end) => sha256(new TextEncoder().encode(text.replaceAll("\n", end))));
  if ((await Promise.all(hashes)).includes(listed.sha256))
    return new LoadError(
      code,
      `${message}: its line endings were changed, as by Git (core.autocrlf). ${again}`,
    );
  const isFormatted = listed.path.endsWith(".json") && bytes.length !== listed.size && isJson(text);
  if (!isFormatted) return new LoadError(code, message);
  return new LoadError(code, `${message}: it was edited, perhaps by a formatter such as Prettier. ${again}`);
}

/** All bytes of a file. If a file listed in weights.json has a wrong hash, it is fetched once more, bypassing all caches. */
async function readBytes(
  source: ModelSource,
  name: string,
  signal: AbortSignal,
  index?: IndexPromise,
): Promise<Uint8Array<ArrayBuffer>> {
  for (let reload = false; ; reload = true) {
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = await readWhole(await source.open(name, { signal, reload }), name, signal);
    } catch (error) {
      if (reload || !(error instanceof ChangedFileError)) throw error;
      continue;
    }
    const listed = await listingOf(index, name);
    const found = listed ? await sha256(bytes) : "";
    if (!listed || found === listed.sha256) return bytes;
    if (reload) throw await wrongText(listed, bytes, found);
  }
}

/** As readBytes, but decodes the text. */
export const readText = async (...args: Parameters<typeof readBytes>): Promise<string> =>
  new TextDecoder().decode(await readBytes(...args));

/** As readText, but undefined if the host has no such file and weights.json does not list it. */
export async function readOptionalText(...args: Parameters<typeof readBytes>): Promise<string | undefined> {
  const bytes = await readOptionalBytes(...args);
  return bytes && new TextDecoder().decode(bytes);
}

/** As readOptionalText, but all bytes. */
export async function readOptionalBytes(
  source: ModelSource,
  name: string,
  signal: AbortSignal,
  index?: IndexPromise,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return await readBytes(source, name, signal, index);
  } catch (error) {
    if (!isMissing(error) || (await listingOf(index, name))) throw error;
    return undefined;
  }
}
