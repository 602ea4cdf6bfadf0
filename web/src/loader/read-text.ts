// Reads the small files of a model folder.
import { joined } from "../shared/joined.js";
import { checkTextSize } from "./limits.js";
import { chunksOf, isMissing, type ModelSource, type OpenFile } from "./model-source.js";
import { sha256 } from "./sha256.js";
import { ChangedFileError } from "./steady-fetch.js";
import { wrongHash, type Piece, type WeightsIndex } from "./weights-index.js";

/** weights.json, which may arrive after the files that it lists; undefined if there is none. */
export type IndexPromise = Promise<WeightsIndex | undefined>;

/** The entry of weights.json for a file. */
export const listingOf = async (index: IndexPromise | undefined, name: string): Promise<Piece | undefined> =>
  (await index)?.files?.find(({ path }) => path === name);

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
  return joined(chunks);
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
    if (reload) throw wrongHash(listed, found);
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
