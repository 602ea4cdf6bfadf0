// Packs the engine's code as text in a script; web/src/shared/inflate.ts unpacks it.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { deflateRawSync } from "node:zlib";
import { engineParts, variants } from "../../engine/toolchain/build.mjs";
import { hashedCode } from "./hash-code.mjs";

/** @param {string | Buffer} bytes */
export const pack = (bytes) => deflateRawSync(bytes, { level: 9 }).toString("base64");

/** Each build in the package's folder `engine`, for packed-builds.ts. */
export const packedCode = (engine) =>
  Object.fromEntries(variants.map((name) => [name, pack(readFileSync(join(engine, `gpt2-${name}.wasm`)))]));

/** The literals for the modules that the scripts of the same names unpack. */
export function packedParts() {
  const literal = (name) => {
    const file = resolve(import.meta.dirname, `../../build/wasm/engine/gpt2-${name}.wasm`);
    return JSON.stringify(pack(hashedCode(readFileSync(file))));
  };
  return Object.fromEntries(engineParts.map((name) => [`GPT2_${name.toUpperCase()}`, literal(name)]));
}
