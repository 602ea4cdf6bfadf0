// Chooses the lines where faults are planted, and the faults.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { faultsOf } from "./faults.mjs";

// Compiled for WebAssembly alone: no native test can notice what happens there.
const onlyWasm = new Set(["engine/format/wasm_libc.cc"]);

/**
 * A fault and the line where it is planted; an entry of equivalent.json.
 * @typedef {import("./faults.mjs").Fault & { file: string, id: string, nth: number, code: string }} PlacedFault
 * @typedef {{ file: string, code: string, faults?: string[], nth?: number, reason: string }} Equivalent
 */

/**
 * The source files among `files` in which faults are planted.
 * @param {string[]} files
 */
export const mutableFiles = (files) =>
  files.filter((file) => /^(engine|weights_tools)\/.*\.(h|cc)$/.test(file) && !onlyWasm.has(file));

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
 * The faults that change what the program does, of `files` below `root`. They are those of faultsOf without the ones of
 * `equivalents`, each with its file, id and line of code.
 * @param {string} root
 * @param {string[]} files
 * @param {Equivalent[]} equivalents
 * @returns {PlacedFault[]}
 */
export function allFaults(root, files, equivalents) {
  return files.flatMap((file) => {
    const source = readFileSync(join(root, file), "utf8");
    const lines = source.split("\n");
    /** @type {Map<string, number>} */
    const seen = new Map();
    /** @type {(key: string) => number} */
    const count = (key) => {
      const nth = (seen.get(key) ?? 0) + 1;
      seen.set(key, nth);
      return nth;
    };
    return faultsOf(source)
      .map((fault) => {
        const place = `${file}:${fault.line}:${fault.column}`;
        const id = `${place}:${count(place)}`;
        const nth = count(`${fault.line} ${fault.before} -> ${fault.after}`);
        return { ...fault, file, id, nth, code: lines[fault.line - 1]?.trim() ?? "" };
      })
      .filter((fault) => !equivalents.some((entry) => isOf(entry, fault)));
  });
}

/**
 * Whether an entry of equivalent.json names this fault. Without "faults" it names all on its line. With "nth" it names
 * only the nth of each kind on the line.
 * @param {Equivalent} entry
 * @param {PlacedFault} fault
 */
export function isOf(entry, { file, code, before, after, nth }) {
  return (
    entry.file === file &&
    entry.code === code &&
    (entry.faults?.includes(`${before} -> ${after}`) ?? true) &&
    (entry.nth ?? nth) === nth
  );
}

/**
 * `faults` in the order in which they are planted: lines at random, on each line one fault at random. The place of a
 * line depends on its file and code alone, so that a change elsewhere does not move it.
 * @param {readonly PlacedFault[]} faults
 * @param {number} seed
 * @returns {PlacedFault[]}
 */
export function inRandomOrder(faults, seed) {
  const lines = [...groupsOf(faults, ({ file, line }) => `${file}:${line}`).values()];
  const alike = groupsOf(lines, ([first]) => `${first?.file}:${first?.code}`);
  return [...alike]
    .flatMap(([text, same]) =>
      same.map((line, nth) => ({ line, at: randomNumber(`${seed}:${nth}:${text}`) })),
    )
    .sort((a, b) => a.at - b.at)
    .flatMap(({ line, at }) => line[Math.floor(((at * 2 ** 16) % 1) * line.length)] ?? []);
}

/**
 * `items` in groups of equal `keyOf`, in the order of their first items.
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => string} keyOf
 * @returns {Map<string, T[]>}
 */
export function groupsOf(items, keyOf) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

// A number in [0, 1) that `text` chooses: FNV-1a, then the last steps of MurmurHash3, which mix its bits.
/** @param {string} text */
function randomNumber(text) {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
