// Where faults are planted, and which of all possible ones are.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { faultsOf } from "./faults.mjs";

// Compiled for WebAssembly alone: no native test can notice what happens there.
const onlyWasm = new Set([
  "engine/api/module.cc",
  "engine/base/no_threads.cc",
  "engine/base/worker_threads.cc",
  "engine/format/wasm_libc.cc",
]);

/**
 * A fault and the line where it is planted.
 * @typedef {import("./faults.mjs").Fault & { file: string, id: string, nth: number, code: string }} PlacedFault
 */

/**
 * Faults that change nothing that a test could or should notice. `code` is the line's code. `faults` lists the faults
 * on it as "before -> after"; without it, all are meant. `nth` picks one of several equal faults on the line, from 1.
 * @type {{ file: string, code: string, faults?: string[], nth?: number, reason: string }[]}
 */
const equivalents = JSON.parse(readFileSync(join(import.meta.dirname, "equivalent.json"), "utf8"));

/**
 * The folder that a file is counted under: engine/text, weights_tools.
 * @param {string} file
 */
export const folderOf = (file) =>
  file
    .split("/")
    .slice(0, file.startsWith("engine/") ? 2 : 1)
    .join("/");

/**
 * The faults of the source files among `files` below `root`, without equivalent ones. Throws where an entry of
 * equivalent.json names a fault that is no longer there.
 * @param {string} root
 * @param {string[]} files
 * @returns {PlacedFault[]}
 */
export function allFaults(root, files) {
  const faults = files
    .filter((file) => /^(engine|weights_tools)\/.*\.(h|cc)$/.test(file) && !onlyWasm.has(file))
    .flatMap((file) => placedFaults(file, readFileSync(join(root, file), "utf8")));
  const left = new Set(faults);
  for (const { file, code, faults: named = [undefined], nth } of equivalents) {
    for (const one of named) {
      const meant = faults.filter(
        (fault) =>
          fault.file === file &&
          fault.code === code &&
          (one ?? `${fault.before} -> ${fault.after}`) === `${fault.before} -> ${fault.after}` &&
          (nth ?? fault.nth) === fault.nth,
      );
      if (meant.length === 0) throw new Error(`equivalent.json is stale: ${file} has no ${one ?? code}`);
      for (const fault of meant) left.delete(fault);
    }
  }
  return [...left];
}

/**
 * @param {string} file
 * @param {string} source
 * @returns {PlacedFault[]}
 */
function placedFaults(file, source) {
  const lines = source.split("\n");
  /** @type {Map<string, number>} */
  const seen = new Map();
  /** @type {(key: string) => number} */
  const count = (key) => {
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return nth;
  };
  return faultsOf(source).map((fault) => {
    const place = `${file}:${fault.line}:${fault.column}`;
    const id = `${place}:${count(place)}`;
    const nth = count(`${fault.line} ${fault.before} -> ${fault.after}`);
    return { ...fault, file, id, nth, code: lines[fault.line - 1]?.trim() ?? "" };
  });
}

/**
 * `faults` in an order that `seed` chooses. The place of each depends on its file and code alone, so that a change
 * elsewhere does not move it.
 * @param {readonly PlacedFault[]} faults
 * @param {string} seed
 */
export const inRandomOrder = (faults, seed) =>
  faults
    .map((fault) => {
      const text = [seed, fault.file, fault.code, fault.nth, fault.before, fault.after].join("\n");
      return { fault, at: createHash("sha256").update(text).digest("hex") };
    })
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ fault }) => fault);
