// Appends the SHA-256 of WebAssembly code to it, in hexadecimal: web/src/model/check-file.ts reads it there.
import { createHash } from "node:crypto";

/**
 * In a custom section, which browsers skip (WebAssembly, 5.5.3).
 * @param {Uint8Array} code
 */
export function hashedCode(code) {
  const name = Buffer.from("sha256");
  const start = Buffer.concat([code, Buffer.from([0, 1 + name.length + 64, name.length]), name]);
  return Buffer.concat([start, Buffer.from(createHash("sha256").update(start).digest("hex"))]);
}
