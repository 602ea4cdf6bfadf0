// Packs bytes as a short text in a script; web/src/shared/inflate.ts unpacks it.
import { deflateRawSync } from "node:zlib";

/** 85 consecutive characters, without the backslash. */
const digits = Array.from({ length: 86 }, (_, i) => String.fromCharCode(35 + i)).filter(
  (each) => each !== "\\",
);

/** @param {string | Buffer} bytes */
export function pack(bytes) {
  const compressed = deflateRawSync(bytes, { level: 9 });
  const size = compressed.length;
  const whole = Buffer.concat([compressed, Buffer.alloc(-size & 3)]);
  let text = "";
  for (let at = 0; at < whole.length; at += 4) {
    const word = whole.readUInt32BE(at);
    for (const unit of [85 ** 4, 85 ** 3, 85 ** 2, 85, 1]) text += digits[Math.floor(word / unit) % 85];
  }
  return { text, size };
}
