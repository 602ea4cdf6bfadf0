// Checks whether the worker's own script is unchanged. A cache may hold a damaged script, and browsers verify only
// hashes that a page states. The page cannot state one here, because bundlers change the file. So the script ends with
// its own size and SHA-256.
import { sha256 } from "../loader/sha256.js";
import { Attempt } from "../loader/steady-fetch.js";

/** Written by web/scripts/hash-files.mjs: the size of everything before the hash, and the hash itself. */
const ending = /\n\/\/(\d{8}) ([0-9a-f]{64})$/;
const endingBytes = 76;
/** The script usually comes from the browser's cache. The check does not wait longer for a slow host. */
const patienceMs = 3000;

/** Describes the damage of the script at `url`; undefined if there is none or it cannot be determined. */
export async function damageOf(url: string, ask: typeof fetch): Promise<string | undefined> {
  if (!/^https?:/.test(url)) return undefined; // a bundler's own scheme
  const attempt = new Attempt(new AbortController().signal, patienceMs);
  const read = async () => {
    const response = await ask(url, { cache: "force-cache", signal: attempt.signal });
    return new Uint8Array(await response.arrayBuffer());
  };
  try {
    const bytes = await attempt.watch(read());
    const [, size, said] = ending.exec(new TextDecoder().decode(bytes.subarray(-endingBytes))) ?? [];
    const start = bytes.subarray(0, -64);
    // A script of another size was changed by another tool, such as a development server.
    if (said === undefined || start.length !== Number(size)) return undefined;
    const found = await sha256(start);
    return found === said ? undefined : `${url} has SHA-256 ${found}, expected ${said}`;
  } catch {
    return undefined;
  } finally {
    attempt.end();
  }
}
