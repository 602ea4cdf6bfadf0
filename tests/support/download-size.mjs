// What a visitor downloads before any weights.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";

const dist = resolve(import.meta.dirname, "../../web/dist");

/** The gzipped size of a file of the built page, in bytes. */
export const gzipBytes = (file) => gzipSync(readFileSync(resolve(dist, file)), { level: 9 }).length;

/** The size of one build of the engine and of all JavaScript that loads and runs it. Needs `npm run build`. */
export function downloadBytes(variant) {
  const parts = [`engine/gpt2-${variant}.wasm`, `engine/gpt2-${variant}.js`, "gpt2.js", "gpt2-worker.js"];
  return parts.reduce((sum, part) => sum + gzipBytes(part), 0);
}
