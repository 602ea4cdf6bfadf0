// The tools and the page read weights.json. Both accept and refuse the same files.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseWeightsIndex, type WeightsIndex } from "../../web/src/model/weights-index.js";
import { converted, scratch, weights } from "./tool.js";

const folder = join(scratch, "listed");
cpSync(converted("tied", "q8"), folder, { recursive: true });
const index = JSON.parse(readFileSync(join(folder, "weights.json"), "utf8")) as WeightsIndex;
const piece = index.pieces[0] ?? { path: "", size: 0, sha256: "" };
const empty = { ...piece, size: 0 };
const config = index.files?.[0];
const changed = (changes: object) => JSON.stringify({ ...index, ...changes });
const withPieces = (...pieces: unknown[]) => changed({ pieces });
const withPiece = (changes: object) => withPieces({ ...piece, ...changes });

it.each([
  ["what convert wrote", JSON.stringify(index), true],
  ["no JSON", "{", false],
  ["no object", "[]", false],
  ["no pieces", withPieces().replace("[]", "{}"), false],
  ["too few pieces", withPieces(), false],
  ["a piece that is no object", withPieces(piece.path), false],
  ["a piece twice", withPieces(empty, piece), false],
  ["another size", changed({ size: index.size + 1 }), false],
  ["a size that is no whole number", withPiece({ size: 0.5 }), false],
  ["a size that is text", withPiece({ size: String(piece.size) }), false],
  ["a negative size", withPieces(piece, { ...empty, path: "b", size: -1 }), false],
  ["a piece of more than 64 MiB", changed({ size: 2 ** 27, pieces: [{ ...piece, size: 2 ** 27 }] }), false],
  ["no version, as before there were several", changed({ version: undefined, files: undefined }), true],
  ["an unknown version", changed({ version: 3 }), false],
  ["version 1, which says so nowhere", changed({ version: 1 }), false],
  ["a version that is text", changed({ version: "2" }), false],
  ["a version that is null", changed({ version: null }), false],
  ["no list of files", changed({ files: undefined }), false],
  ["files that are no list", changed({ files: {} }), false],
  ["a file that is no object", changed({ files: ["config.json"] }), false],
  ["a file twice", changed({ files: [config, config] }), false],
  ["a file that is a piece, too", changed({ files: [piece] }), false],
  ["a file in another folder", changed({ files: [{ ...config, path: "../config.json" }] }), false],
  ["no files", changed({ files: [] }), true],
  ["no hash", withPiece({ sha256: undefined }), false],
  ["a hash in capitals", withPiece({ sha256: piece.sha256.toUpperCase() }), false],
  ["a hash that is too short", withPiece({ sha256: piece.sha256.slice(1) }), false],
  ["a size of 2^53", withPieces(piece, { ...empty, path: "b", size: 2 ** 53 }), false],
  ...["", ".", "..", ".hidden", "../x", "/a", "a/b", "a\\b", "a b", "a?b", "a%2e", "ä", "a\0"].map(
    (path) => [`the name ${JSON.stringify(path)}`, withPiece({ path }), false] as const,
  ),
] as const)("%s", (_, text, isTaken) => {
  const take = () => parseWeightsIndex(text);
  if (isTaken) expect(take().pieces).toEqual(index.pieces);
  else expect(take).toThrow(/^weights\.json/);
  writeFileSync(join(folder, "weights.json"), text);
  const { status, stderr } = weights(["inspect", folder, "--json"]);
  if (isTaken) expect(status).toBe(0);
  else expect(stderr).toMatch(/^gpt2-weights: \S+weights\.json/);
});
