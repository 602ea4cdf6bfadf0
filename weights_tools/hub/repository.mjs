// A model's repository on a hub: the files of one commit, with their sizes and hashes.
import { fileAddress, problemOfFileName } from "../../web/src/shared/file-names.mjs";
import { FetchError, quoted, UsageError } from "./messages.mjs";
import { HubApi } from "./requests.mjs";

/**
 * @typedef {object} HubFile
 * @property {string} name
 * @property {string} url The hub's own address. Each attempt requests it, because the address of its redirect expires.
 * @property {number} size in bytes
 * @property {{algorithm: "sha256" | "git-sha1", digest: string}} hash lower-case hexadecimal; Git's covers a header, too
 */

/**
 * @typedef {object} Repository
 * @property {string} id
 * @property {string} commit
 * @property {Map<string, HubFile>} files by name; only those at the top
 */

/**
 * `user/name` or `user/name@revision`.
 * @param {string} text
 */
export function parseId(text) {
  const match = /^(?<id>[\w.-]+(?:\/[\w.-]+)?)(?:@(?<revision>[^@\s]+))?$/.exec(text);
  const { id = "", revision = "main" } = match?.groups ?? {};
  if (problemOfFileName(id) || problemOfFileName(revision)) {
    throw new UsageError(
      `${quoted(text)} is not a model id: expected user/name or user/name@revision, such as openai-community/gpt2`,
    );
  }
  return { id, revision };
}

/** Most pages of a list of files; a hub lists about a thousand files on each. */
const mostPages = 100;

/** @param {unknown} value @returns {Record<string, unknown>} */
const membersOf = (value) => (typeof value === "object" && value !== null ? { ...value } : {});

/**
 * The hash in an entry of a hub's list.
 * @param {Record<string, unknown>} entry
 * @returns {HubFile["hash"] | undefined}
 */
function hashOf({ lfs, oid }) {
  const digest = lfs ? membersOf(lfs).oid : oid;
  if (typeof digest !== "string" || !/^[0-9a-f]+$/.test(digest)) return undefined;
  if (lfs) return digest.length === 64 ? { algorithm: "sha256", digest } : undefined;
  return digest.length === 40 ? { algorithm: "git-sha1", digest } : undefined;
}

/**
 * The file that `value`, an entry of a hub's list, describes.
 * @param {unknown} value
 * @param {string} hub
 * @param {string} folder address of the files
 * @returns {HubFile | undefined} undefined if it is not a file, or if a folder cannot hold a file of that name.
 */
function parseEntry(value, hub, folder) {
  const entry = membersOf(value);
  const { type, path: name, lfs } = entry;
  const wrong = (/** @type {string} */ why) => new FetchError(`${hub} lists ${quoted(name ?? value)} ${why}`);
  if (typeof name !== "string" || typeof type !== "string") throw wrong("without a path and a type");
  if (type !== "file" || problemOfFileName(name) || name.includes("/")) return undefined;
  const size = lfs ? membersOf(lfs).size : entry.size;
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0)
    throw wrong(`with the size ${quoted(size)}, expected a number of bytes`);
  const hash = hashOf(entry);
  if (!hash) throw wrong("without a hash in hexadecimal digits");
  return { name, url: fileAddress(folder, name), size, hash };
}

/**
 * Yields the entries of a list of files, page by page.
 * @param {HubApi} api
 * @param {string} first The address of the first page.
 * @param {string} what The list, for messages.
 */
async function* entriesOf(api, first, what) {
  const { hub } = api.access;
  /** @type {string | undefined} */
  let address = first;
  for (let page = 0; address !== undefined; ++page) {
    if (page === mostPages) throw new FetchError(`${hub} splits ${what} into more than ${mostPages} pages`);
    const { value, next } = await api.json(address, what);
    if (!Array.isArray(value))
      throw new FetchError(`${hub} answered ${quoted(value)} for ${what}, expected an array`);
    yield* value;
    address = next;
  }
}

/**
 * Asks a hub for a model's files. Throws a FetchError if it does not answer with a list of them.
 * @param {{id: string, revision: string}} wanted
 * @param {import("./requests.mjs").Access} access
 * @returns {Promise<Repository>}
 */
export async function openRepository({ id, revision }, access) {
  const { hub } = access;
  const what = `${id} at ${revision}`;
  const api = new HubApi(access);
  try {
    // A branch may move while its files are fetched; a commit does not.
    const about = await api.json(`${hub}/api/models/${id}/revision/${encodeURIComponent(revision)}`, what);
    const commit = membersOf(about.value).sha;
    if (typeof commit !== "string" || !/^[0-9a-f]{40}$/.test(commit))
      throw new FetchError(
        `${hub} states the commit ${quoted(commit)} for ${what}, expected 40 hexadecimal digits`,
      );
    /** @type {Repository["files"]} */
    const files = new Map();
    const entries = entriesOf(api, `${hub}/api/models/${id}/tree/${commit}`, `the list of files of ${what}`);
    for await (const entry of entries) {
      const file = parseEntry(entry, hub, `${hub}/${id}/resolve/${commit}/`);
      if (!file) continue;
      if (files.has(file.name)) throw new FetchError(`${hub} lists ${quoted(file.name)} twice`);
      files.set(file.name, file);
    }
    return { id, commit, files };
  } finally {
    api.close();
  }
}
