// Packs the engine's four builds into a script.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { engineParts } from "../../engine/toolchain/build.mjs";
import { createDelta } from "./code-delta.mjs";
import { hashedCode } from "./hash-files.mjs";
import { pack } from "./pack.mjs";

/** Each build, and the build from which its code is stored as a difference: they have most of it in common. */
const builds = [
  { variant: "simd-relaxed", base: null },
  { variant: "simd", base: "simd-relaxed" },
  { variant: "threads-relaxed", base: "simd-relaxed" },
  { variant: "threads", base: "threads-relaxed" },
];

/** Packs the code of the builds in the package's folder `engine` for packed-builds.ts. */
export function packCode(engine) {
  const codes = new Map();
  const parts = [];
  const bytes = [];
  for (const { variant, base } of builds) {
    const code = readFileSync(join(engine, `gpt2-${variant}.wasm`));
    const stored = base === null ? code : createDelta(codes.get(base), code);
    codes.set(variant, code);
    parts.push({ variant, size: stored.length, base });
    bytes.push(stored);
  }
  return { data: pack(Buffer.concat(bytes)), parts };
}

/** The literals for the modules that the scripts of the same names unpack. */
export function packedParts() {
  const literal = (name) => {
    const file = resolve(import.meta.dirname, `../../build/wasm/engine/gpt2-${name}.wasm`);
    return JSON.stringify(pack(hashedCode(readFileSync(file))));
  };
  return Object.fromEntries(engineParts.map((name) => [`GPT2_${name.toUpperCase()}`, literal(name)]));
}
