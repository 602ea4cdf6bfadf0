// Checks that WebAssembly code is as it was built: it ends with the SHA-256 of the bytes before it. So no list of hashes is
// needed.
import { LoadError } from "../shared/errors.js";
import { sha256 } from "./sha256.js";

/** Length of the hexadecimal hash at the code's end, which web/scripts/hash-code.mjs writes. */
const hashBytes = 64;

/** Throws a LoadError if the code at `url` does not match its own hash or has none. */
export async function checkFile(url: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const end = Math.max(0, bytes.length - hashBytes);
  const said = new TextDecoder().decode(bytes.subarray(end));
  const corrupt = (why: string) => new LoadError("corrupt", `${url} ${why}`);
  if (!/^[0-9a-f]{64}$/.test(said)) throw corrupt(`is ${bytes.length} bytes, but its end is missing`);
  const found = await sha256(bytes.subarray(0, end));
  if (found !== said) throw corrupt(`has SHA-256 ${found}, expected ${said}`);
}
