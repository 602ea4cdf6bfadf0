// Checks that a file of this module is as it was built: each file ends with the SHA-256 of the bytes before it. So no list of
// hashes is needed. A bundler that changes a file also removes this comment, and the file is then not checked.
import { LoadError } from "../shared/errors.js";
import { sha256 } from "./sha256.js";

/** Length of the hexadecimal hash at a file's end, which web/scripts/hash-files.mjs writes. */
const hashBytes = 64;

/** Throws a LoadError if the file at `url` does not match its own hash or, with `mustSay`, if it has none. */
export async function checkFile(
  url: string,
  bytes: Uint8Array<ArrayBuffer>,
  mustSay: boolean,
): Promise<void> {
  const end = Math.max(0, bytes.length - hashBytes);
  const said = new TextDecoder().decode(bytes.subarray(end));
  const isHash = /^[0-9a-f]{64}$/.test(said);
  if (!isHash && !mustSay) return;
  const corrupt = (why: string) => new LoadError("corrupt", `${url} ${why}`);
  if (!isHash) throw corrupt(`is ${bytes.length} bytes, but its end is missing`);
  const found = await sha256(bytes.subarray(0, end));
  if (found !== said) throw corrupt(`has SHA-256 ${found}, expected ${said}`);
}
