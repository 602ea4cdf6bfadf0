// Builds the page in one file: the page with everything except the model, and the model's files in base64, in
// elements of a few MB. The same code runs in Node (web/scripts/export.mjs) and in the page (saving.ts).

/** Where the model's files are inserted. */
export const marker = "<!-- model -->";

/** The end of one-file.html: the SHA-256 of everything before. */
export const pageEnding = (/** @type {string} */ sha256) => `<!-- ${sha256} -->\n`;
const pageEndingLength = pageEnding("0".repeat(64)).length;

/**
 * Larger files are not listed: see largestPiece in web/src/model/weights-index.ts. A listed file is held in memory
 * as a whole and verified.
 */
const mostListedBytes = 64 << 20;

/** Bytes of a file in one element: divisible by three, so that base64 needs no padding in between. */
const elementBytes = 3 << 20;

/**
 * @typedef {object} ModelFile
 * @property {string} name
 * @property {number | undefined} size In bytes, if known in advance.
 * @property {boolean} isOptional The model works without it.
 * @property {string} [sha256] Lower-case hexadecimal, if known in advance.
 * @property {string} [text] The contents, if already read.
 */

/**
 * The files of a model folder: those that every folder has, and those that `index`, its weights.json, lists. Undefined if
 * there is no index, as in a folder from the Hub.
 * @param {string | undefined} index
 * @returns {ModelFile[]}
 */
export function modelFiles(index) {
  const file = (/** @type {string} */ name, isOptional = false) => ({ name, size: undefined, isOptional });
  const texts = [file("config.json"), file("vocab.json", true), file("merges.txt", true)];
  const unlisted = [
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "spiece.model",
    "tokenizer.model",
  ].map((name) => file(name, true));
  if (index === undefined) return [...texts, ...unlisted, file("model.safetensors")];
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(index);
  } catch (error) {
    throw new Error(`weights.json is not valid JSON: ${String(error)}`, { cause: error });
  }
  const { pieces, files } = /** @type {{ pieces?: unknown, files?: unknown }} */ (value ?? {});
  const listed = (/** @type {unknown} */ list, /** @type {string} */ of) => {
    if (!Array.isArray(list)) throw new Error(`weights.json: expected a list "${of}s"`);
    return list.map((entry, place) => {
      const { path, size, sha256 } = /** @type {{ path?: unknown, size?: unknown, sha256?: unknown }} */ (
        entry ?? {}
      );
      const isSize = typeof size === "number" && size >= 0 && size <= mostListedBytes;
      const isName = typeof path === "string" && /^[\w-][\w.-]*$/.test(path);
      if (isName && isSize && typeof sha256 === "string")
        return { name: path, size, sha256, isOptional: false };
      throw new Error(
        `weights.json: ${of} ${place} is not {"path": file name, "size": at most ${mostListedBytes} bytes, "sha256": hex}`,
      );
    });
  };
  // Version 1 lists only the weights. In a folder of version 2, a tokenizer may have been added that is not listed.
  const beside = files === undefined ? [] : listed(files, "file");
  const others = texts.filter(({ name }) => !beside.some((each) => each.name === name));
  return [...beside, ...others, { ...file("weights.json"), text: index }, ...listed(pieces, "piece")];
}

/** @param {Uint8Array} bytes */
function toBase64(bytes) {
  let text = "";
  for (let place = 0; place < bytes.length; place += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(place, place + 0x8000));
  }
  return btoa(text);
}

/**
 * `chunks` in portions of `elementBytes`; the last may be smaller.
 * @param {AsyncIterable<Uint8Array> | Iterable<Uint8Array>} chunks
 */
async function* portions(chunks) {
  const portion = new Uint8Array(elementBytes);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let place = 0; place < chunk.length;) {
      const part = chunk.subarray(place, place + elementBytes - filled);
      portion.set(part, filled);
      filled += part.length;
      place += part.length;
      if (filled < elementBytes) continue;
      yield portion;
      filled = 0;
    }
  }
  if (filled > 0) yield portion.subarray(0, filled);
}

/**
 * The bytes of a file that weights.json lists, after they are verified.
 * @param {ModelFile & { size: number }} file
 * @param {AsyncIterable<Uint8Array> | Iterable<Uint8Array>} chunks
 * @param {Sha256} sha256
 */
async function verified({ name, size, sha256: expected }, chunks, sha256) {
  const bytes = new Uint8Array(size);
  let found = 0;
  for await (const chunk of chunks) {
    if (found + chunk.length <= size) bytes.set(chunk, found);
    found += chunk.length;
  }
  if (found !== size) throw new Error(`${name} is ${found} bytes, weights.json says ${size}`);
  const hash = await sha256(bytes);
  if (hash !== expected) throw new Error(`${name} has SHA-256 ${hash}, weights.json says ${expected}`);
  return bytes;
}

/**
 * Throws if `page` is not the page that was built.
 * @param {string} page
 * @param {Sha256} sha256
 */
async function checkPage(page, sha256) {
  const start = page.slice(0, -pageEndingLength);
  if (page.slice(start.length) === pageEnding(await sha256(new TextEncoder().encode(start)))) return;
  throw new Error("one-file.html is damaged: reload the page, or build it again");
}

/** @typedef {(bytes: Uint8Array<ArrayBuffer>) => Promise<string> | string} Sha256 Returns lower-case hexadecimal. */

/**
 * Yields the page in one file, in order. At most a few MB are in memory at a time.
 * @param {string} page The built one-file.html.
 * @param {readonly ModelFile[]} files
 * @param {(name: string) => Promise<AsyncIterable<Uint8Array> | undefined>} open Returns undefined if there is no
 * such file.
 * @param {Sha256} sha256 Verifies the files that weights.json lists before they are written.
 * @returns {AsyncGenerator<string>}
 */
export async function* composeOneFile(page, files, open, sha256) {
  await checkPage(page, sha256);
  const [before, after, ...more] = page.split(marker);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`one-file.html must have exactly one place for the model (${marker}): build it again`);
  }
  yield before;
  for (const file of files) {
    const { name, size, isOptional, text } = file;
    const chunks = text === undefined ? await open(name) : [new TextEncoder().encode(text)];
    if (chunks === undefined && isOptional) continue;
    if (chunks === undefined) throw new Error(`the model has no ${name}`);
    const good = size === undefined ? chunks : [await verified({ ...file, size }, chunks, sha256)];
    for await (const portion of portions(good)) {
      yield `<script type="text/plain" data-file="${name}">${toBase64(portion)}</script>\n`;
    }
  }
  yield after;
}
