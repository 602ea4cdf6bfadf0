// Whether the worker's own script is as it was built. Browsers run whatever a cache gives them, and hash only what a page
// names, which it cannot here: bundlers make another file of it. So it says its size and its SHA-256 itself, at its end.
import { sha256 } from "../loader/sha256.js";
import { Attempt } from "../loader/steady-fetch.js";

/** What web/scripts/hash-files.mjs puts there: the size of all before the hash, and the hash of that. */
const ending = /\n\/\/(\d{8}) ([0-9a-f]{64})$/;
const endingBytes = 76;
/** It comes from the browser's cache, as a rule: a host that is slow to give it once more is not waited for. */
const patienceMs = 3000;

/** What is wrong with the script at `url`, in words; undefined where nothing is, or where that cannot be known. */
export async function damageOf(url: string, ask: typeof fetch): Promise<string | undefined> {
  if (!/^https?:/.test(url)) return undefined; // a bundler's own idea of it
  const attempt = new Attempt(new AbortController().signal, patienceMs);
  const read = async () => {
    const response = await ask(url, { cache: "force-cache", signal: attempt.signal });
    return new Uint8Array(await response.arrayBuffer());
  };
  try {
    const bytes = await attempt.watch(read());
    const [, size, said] = ending.exec(new TextDecoder().decode(bytes.subarray(-endingBytes))) ?? [];
    const start = bytes.subarray(0, -64);
    // What has another size is another's work, such as a development server's.
    if (said === undefined || start.length !== Number(size)) return undefined;
    const found = await sha256(start);
    return found === said ? undefined : `${url} has SHA-256 ${found}, expected ${said}`;
  } catch {
    return undefined;
  } finally {
    attempt.end();
  }
}
