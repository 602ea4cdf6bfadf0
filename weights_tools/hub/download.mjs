// Downloads one file of a hub. An interrupted download resumes, and the file gets its name only once its hash is right.
import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { lstat, open, rename, rm, stat } from "node:fs/promises";
import { FetchError, reasonOf, say } from "./messages.mjs";
import { get, refusal } from "./requests.mjs";

/** @typedef {import("./repository.mjs").HubFile} HubFile */
/** @typedef {import("./requests.mjs").Access} Access */

/** Attempts in a row without a new byte before the download fails. */
const mostAttempts = 5;
const firstPauseMs = 500;
const longestPauseMs = 60_000;

/** @param {HubFile} file */
function hasher({ size, hash }) {
  if (hash.algorithm === "sha256") return createHash("sha256");
  return createHash("sha1").update(`blob ${size}\0`); // as Git hashes files
}

/**
 * The result of `ask`; undefined if there is no such file.
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
 * @param {typeof stat} ask `lstat` does not follow a symbolic link.
 * @returns {Promise<import("node:fs").Stats | undefined>} undefined if nothing has that path. Throws a FetchError if
 *   something other than a file has it.
 */
async function statFile(path, ask) {
  const found = await unlessMissing(ask(path));
  if (found && !found.isFile()) throw new FetchError(`${path} exists and is not a file: remove it`);
  return found;
}

/**
 * @param {string} path The file that an earlier run may have left.
 * @returns {Promise<number>} Its size in bytes; 0 if there is none. Throws a FetchError if writing to it would change another file.
 */
async function sizeOfPartial(path) {
  const found = await statFile(path, lstat);
  if (found && found.nlink > 1)
    throw new FetchError(`${path} has a hard link, so writing to it would change another file: remove it`);
  return found?.size ?? 0;
}

/** Appends, and follows no symbolic link. */
const appending = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

/**
 * The hash of what `path` holds, by the algorithm of the hub's hash of `file`.
 * @param {string} path
 * @param {HubFile} file
 */
async function digestOf(path, file) {
  const hash = hasher(file);
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}

/** A temporary failure: another attempt may succeed, after a pause that the host may state. */
export class PassingError extends Error {
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
export async function request({ name, url }, from, access, signal) {
  const headers = { "Accept-Encoding": "identity", ...(from > 0 && { Range: `bytes=${from}-` }) };
  const { response, isHub } = await get(url, name, access, { headers, signal, isFile: true });
  const { status, body } = response;
  const refused = refusal(status, name, access.hub);
  if (status === 429 || status >= 500 || status === 408) {
    const seconds = Number(response.headers.get("retry-after") ?? NaN);
    throw new PassingError(refused, Number.isFinite(seconds) ? Math.max(seconds, 0) * 1000 : undefined);
  }
  // The signed address has expired: the hub signs another one.
  if (status === 403 && !isHub) throw new PassingError(refused, 0);
  if (!response.ok || !body) throw new FetchError(refused);
  return { isPart: status === 206, body };
}

/**
 * Appends the missing bytes of `file` to the file at `path`. Throws whatever interrupts it.
 * @param {HubFile} file
 * @param {string} path
 * @param {Access} access
 * @param {(bytes: number) => void} onBytes called with the size of the file so far
 */
async function append(file, path, access, onBytes) {
  const controller = new AbortController();
  const stalled = () => controller.abort(new Error(`no data for ${access.stallMs / 1000} s`));
  let timer = setTimeout(stalled, access.stallMs);
  const from = await sizeOfPartial(path);
  let target;
  try {
    const { isPart, body } = await request(file, from, access, controller.signal);
    target = await open(path, appending, 0o666);
    let size = isPart ? from : 0;
    await target.truncate(size);
    for await (const chunk of body) {
      clearTimeout(timer);
      timer = setTimeout(stalled, access.stallMs);
      size += chunk.length;
      if (size > file.size)
        throw new FetchError(`${file.name} is longer than ${file.size} bytes, the size that the hub states`);
      await target.write(chunk);
      onBytes(size);
    }
    await target.sync();
  } finally {
    clearTimeout(timer);
    controller.abort(); // the host may still be sending
    await target?.close();
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
  let most = await sizeOfPartial(path);
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
      // Another attempt does not help against an error of the disk.
      if (error instanceof FetchError || /** @type {NodeJS.ErrnoException} */ (error).syscall !== undefined)
        throw error;
      if (error instanceof PassingError) pauseMs = error.pauseMs;
      reason = reasonOf(error);
    }
    const size = await sizeOfPartial(path);
    attempts = size > most ? 1 : attempts + 1;
    most = Math.max(most, size);
    if (attempts === mostAttempts || (pauseMs ?? 0) > longestPauseMs) {
      throw new FetchError(
        `${file.name}: ${reason}; the downloaded bytes are stored. Run the command again to resume`,
      );
    }
    pauseMs ??= firstPauseMs * 2 ** (attempts - 1) * (0.5 + Math.random());
    say(`${file.name}: ${reason}; trying again in ${Math.ceil(pauseMs / 1000)} s`);
    await access.pause(pauseMs);
  }
}

/**
 * Downloads `file` to `path`. Makes no request if it already exists. Throws a FetchError if another file is at that
 * path.
 * @param {HubFile} file
 * @param {string} path
 * @param {Access} access
 * @param {(bytes: number) => void} onBytes
 * @returns {Promise<"there" | "fetched">}
 */
export async function download(file, path, access, onBytes) {
  const existing = await statFile(path, stat);
  if (existing) {
    if (existing.size === file.size && (await digestOf(path, file)) === file.hash.digest) return "there";
    throw new FetchError(
      `${path} already exists and differs from the hub's ${file.name}: remove it, or choose another folder`,
    );
  }
  // The hash in the name distinguishes it from every other file.
  const partial = `${path}.${file.hash.digest.slice(0, 16)}.partial`;
  // What an earlier run left may be damaged. Then the download starts again, once.
  let found = "";
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await appendPatiently(file, partial, access, onBytes);
    found = await digestOf(partial, file);
    if (found === file.hash.digest) {
      if (await unlessMissing(lstat(path))) {
        throw new FetchError(
          `another program has written ${path}: move that file, then rename ${partial} to ${path}`,
        );
      }
      await rename(partial, path);
      return "fetched";
    }
    await rm(partial);
  }
  throw new FetchError(
    `${file.name} has the hash ${found}, but the hub states ${file.hash.digest} (${file.hash.algorithm}): try again later`,
  );
}
