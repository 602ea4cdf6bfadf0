// What a visitor downloads before any weights.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";

const dist = resolve(import.meta.dirname, "../dist");

/** Bytes of gzip of a file of the built page. */
export const gzipBytes = (file) => gzipSync(readFileSync(resolve(dist, file)), { level: 9 }).length;

/** Those of one build of the engine and all JavaScript that loads and runs it. Needs `npm run build`. */
export function downloadBytes(variant) {
  const parts = [`engine/gpt2-${variant}.wasm`, `engine/gpt2-${variant}.js`, "gpt2.js", "gpt2-worker.js"];
  return parts.reduce((sum, part) => sum + gzipBytes(part), 0);
}
