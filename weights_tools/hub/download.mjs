// One file of a hub onto a disk: it goes on where it was cut, and is only there under its name once its hash is right.
import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { lstat, open, rename, rm, stat } from "node:fs/promises";
import { FetchError, reasonOf, refusal } from "./repository.mjs";

/** @typedef {import("./repository.mjs").HubFile} HubFile */

/**
 * @typedef {object} Access
 * @property {string} hub
 * @property {string | undefined} token goes to the hub alone, never to where it redirects
 * @property {number} stallMs silence that counts as a broken connection
 */

/** Attempts in a row that bring no byte. */
const mostAttempts = 5;
const firstPauseMs = 500;
const longestPauseMs = 60_000;

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {HubFile} file */
function hasher({ size, hash }) {
  if (hash.algorithm === "sha256") return createHash("sha256");
  return createHash("sha1").update(`blob ${size}\0`); // as Git hashes files
}

/**
 * What `ask` says, undefined where there is no such file.
 * @template T
 * @param {Promise<T>} ask
 * @returns {Promise<T | undefined>}
 */
async function unlessMissing(ask) {
  try {
    return await ask;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * @param {string} path
 * @returns {Promise<number | undefined>} bytes; undefined where there is no such file
 */
const sizeOf = async (path) => (await unlessMissing(stat(path)))?.size;

/**
 * @param {string} path of what an earlier run may have left
 * @returns {Promise<number>} its bytes. Throws a FetchError where something else is there
 */
async function sizeOfPartial(path) {
  const found = await unlessMissing(lstat(path));
  if (found && !found.isFile()) throw new FetchError(`${path} is there, and is no file: remove it`);
  return found?.size ?? 0;
}

/** Appends, and follows no symbolic link. */
const appending = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

/**
 * Whether the file at `path` is what the hub has.
 * @param {string} path
 * @param {HubFile} file
 */
async function isSame(path, file) {
  if ((await sizeOf(path)) !== file.size) return false;
  const hash = hasher(file);
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex") === file.hash.digest;
}

/** An answer that another attempt may better, after a pause that the host may name. */
class PassingError extends Error {
  /**
   * @param {string} message
   * @param {number | undefined} pauseMs
   */
  constructor(message, pauseMs) {
    super(message);
    this.pauseMs = pauseMs;
  }
}

/**
 * The bytes of a file from `from` on.
 * @param {HubFile} file
 * @param {number} from
 * @param {Access} access
 * @param {AbortSignal} signal
 */
async function request(file, from, { hub, token }, signal) {
  /** @type {Record<string, string>} */
  const headers = { "Accept-Encoding": "identity" };
  if (token) headers.Authorization = `Bearer ${token}`; // fetch leaves it out at another host
  if (from > 0) headers.Range = `bytes=${from}-`;
  const response = await fetch(file.url, { headers, signal });
  const { status } = response;
  if (status === 429 || status >= 500 || status === 408) {
    const seconds = Number(response.headers.get("retry-after") ?? NaN);
    throw new PassingError(
      refusal(status, file.name, hub),
      Number.isFinite(seconds) ? seconds * 1000 : undefined,
    );
  }
  // A signed address that has expired: the hub makes another.
  if (status === 403 && new URL(response.url).origin !== new URL(hub).origin) {
    throw new PassingError(refusal(status, file.name, hub), 0);
  }
  if (!response.ok || !response.body) throw new FetchError(refusal(status, file.name, hub));
  return { isPart: status === 206, body: response.body };
}

/**
 * Appends what is missing of `file` to the file at `path`. Returns how many bytes that brought, and throws what ended it.
 * @param {HubFile} file
 * @param {string} path
 * @param {Access} access
 * @param {(bytes: number) => void} onBytes called with the size of the file so far
 */
async function append(file, path, access, onBytes) {
  const controller = new AbortController();
  const stalled = () => controller.abort(new Error(`no byte came for ${access.stallMs / 1000} s`));
  let timer = setTimeout(stalled, access.stallMs);
  const from = await sizeOfPartial(path);
  const { isPart, body } = await request(file, from, access, controller.signal).catch(
    (/** @type {unknown} */ error) => {
      clearTimeout(timer);
      throw error;
    },
  );
  const target = await open(path, appending, 0o666);
  try {
    let size = isPart ? from : 0;
    await target.truncate(size);
    for await (const chunk of body) {
      clearTimeout(timer);
      timer = setTimeout(stalled, access.stallMs);
      size += chunk.length;
      if (size > file.size)
        throw new FetchError(`${file.name} is longer than the ${file.size} bytes that the hub says`);
      await target.write(chunk);
      onBytes(size);
    }
    await target.sync();
  } finally {
    clearTimeout(timer);
    await target.close();
  }
}

/**
 * @param {HubFile} file
 * @param {string} path
 * @param {Access} access
 * @param {(bytes: number) => void} onBytes
 */
async function appendPatiently(file, path, access, onBytes) {
  let attempts = 0;
  for (;;) {
    const before = await sizeOfPartial(path);
    if (before >= file.size && before > 0) return;
    let pauseMs;
    let reason;
    try {
      await append(file, path, access, onBytes);
      const size = await sizeOfPartial(path);
      if (size === file.size) return;
      reason = `the connection ended after ${size} of ${file.size} bytes`;
    } catch (error) {
      // What the disk says, another attempt does not change.
      if (error instanceof FetchError || /** @type {NodeJS.ErrnoException} */ (error).syscall !== undefined)
        throw error;
      if (error instanceof PassingError) pauseMs = error.pauseMs;
      reason = reasonOf(error);
    }
    const size = await sizeOfPartial(path);
    attempts = size > before ? 1 : attempts + 1;
    if (attempts === mostAttempts || (pauseMs ?? 0) > longestPauseMs) {
      throw new FetchError(`${file.name}: ${reason}; what has come is kept, run the command again to go on`);
    }
    await pause(pauseMs ?? firstPauseMs * 2 ** (attempts - 1) * (0.5 + Math.random()));
  }
}

/**
 * Brings `file` to `path`: nothing is asked where it is there already. Throws a FetchError where another file is.
 * @param {HubFile} file
 * @param {string} path
 * @param {Access} access
 * @param {(bytes: number) => void} onBytes
 * @returns {Promise<"there" | "fetched">}
 */
export async function download(file, path, access, onBytes) {
  if ((await sizeOf(path)) !== undefined) {
    if (await isSame(path, file)) return "there";
    throw new FetchError(
      `${path} is there, and is not the ${file.name} of the hub: remove it, or choose another folder`,
    );
  }
  // By what it will hold: nobody else's file has such a name.
  const partial = `${path}.${file.hash.digest.slice(0, 16)}.partial`;
  // What lies there may be damaged: then once more, from the beginning.
  for (const isLast of [false, true]) {
    await appendPatiently(file, partial, access, onBytes);
    if (await isSame(partial, file)) {
      if (await unlessMissing(lstat(path))) {
        throw new FetchError(`${path} has come from elsewhere meanwhile: what was fetched is ${partial}`);
      }
      await rename(partial, path);
      return "fetched";
    }
    if (isLast) break;
    await rm(partial);
  }
  const found = hasher(file);
  for await (const chunk of createReadStream(partial)) found.update(chunk);
  await rm(partial);
  throw new FetchError(
    `${file.name} has the hash ${found.digest("hex")}, the hub says ${file.hash.digest} (${file.hash.algorithm})`,
  );
}
