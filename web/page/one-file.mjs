// How a page in one file is put together: the page with everything but the model, and the model's files in base64, in
// elements of a few MB each. The same code writes it in Node (web/scripts/export.mjs) and in the page (saving.ts).

/** Where the model's files go into the page. */
export const marker = "<!-- model -->";

/** Bytes of a file in one element: divisible by three, so that base64 needs no padding in between. */
const elementBytes = 3 << 20;

/**
 * @typedef {object} ModelFile
 * @property {string} name
 * @property {number | undefined} size In bytes, where it is known before.
 * @property {boolean} isOptional The model works without it.
 */

/**
 * The files of a model folder: those that every one has, and those that `index`, its weights.json, lists; undefined
 * where there is none, as in a folder from the hub.
 * @param {string | undefined} index
 * @returns {ModelFile[]}
 */
export function modelFiles(index) {
  const file = (/** @type {string} */ name, isOptional = false) => ({ name, size: undefined, isOptional });
  const texts = [file("config.json"), file("vocab.json", true), file("merges.txt", true)];
  const defaults = file("generation_config.json", true);
  if (index === undefined) return [...texts, defaults, file("model.safetensors")];
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
      const { path, size } = /** @type {{ path?: unknown, size?: unknown }} */ (entry ?? {});
      if (typeof path === "string" && /^[\w-][\w.-]*$/.test(path) && typeof size === "number") {
        return { name: path, size, isOptional: false };
      }
      throw new Error(`weights.json: ${of} ${place} is not {"path": file name, "size": bytes}`);
    });
  };
  // Version 1 lists the weights alone, and a tokenizer may have been put beside what version 2 lists.
  const beside = files === undefined ? [] : listed(files, "file");
  const others = texts.filter(({ name }) => !beside.some((each) => each.name === name));
  return [...beside, ...others, file("weights.json"), ...listed(pieces, "piece")];
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
 * `chunks` in portions of `elementBytes`, but for the last.
 * @param {AsyncIterable<Uint8Array>} chunks
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
 * The page in one file, in the order in which it is written; no more than a few MB are in memory.
 * @param {string} page one-file.html, as it was built.
 * @param {readonly ModelFile[]} files
 * @param {(name: string) => Promise<AsyncIterable<Uint8Array> | undefined>} open Undefined where there is no such file.
 * @returns {AsyncGenerator<string>}
 */
export async function* composeOneFile(page, files, open) {
  const [before, after, ...more] = page.split(marker);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`one-file.html has no one place for the model (${marker}): build it again`);
  }
  yield before;
  for (const { name, size, isOptional } of files) {
    const chunks = await open(name);
    if (chunks === undefined && isOptional) continue;
    if (chunks === undefined) throw new Error(`the model has no ${name}`);
    let found = 0;
    for await (const portion of portions(chunks)) {
      found += portion.length;
      yield `<script type="text/plain" data-file="${name}">${toBase64(portion)}</script>\n`;
    }
    if (size !== undefined && found !== size) {
      throw new Error(`${name} is ${found} bytes, weights.json says ${size}`);
    }
  }
  yield after;
}
