// Appends the SHA-256 of a file to it, in hexadecimal: web/src/loader/check-file.ts reads it there.
import { createHash } from "node:crypto";

const hex = (bytes) => createHash("sha256").update(bytes).digest("hex");

/**
 * In a comment, which tools remove when they change the script.
 * @param {string} script
 */
export function hashedScript(script) {
  const start = `${script}\n//`;
  return start + hex(start);
}

/**
 * As hashedScript, and with the size of everything before the hash: web/src/worker/check-self.ts reads both.
 * @param {string} script
 */
export function hashedWorker(script) {
  const size = Buffer.byteLength(script) + "\n//00000000 ".length;
  const start = `${script}\n//${String(size).padStart(8, "0")} `;
  return start + hex(start);
}

/**
 * The script before hashedScript or hashedWorker.
 * @param {string} script
 */
export const withoutHash = (script) => script.replace(/\n\/\/(?:\d{8} )?[0-9a-f]{64}$/, "");

/**
 * In a custom section, which browsers skip (WebAssembly, 5.5.3).
 * @param {Uint8Array} code
 */
export function hashedCode(code) {
  const name = Buffer.from("sha256");
  const start = Buffer.concat([code, Buffer.from([0, 1 + name.length + 64, name.length]), name]);
  return Buffer.concat([start, Buffer.from(hex(start))]);
}
