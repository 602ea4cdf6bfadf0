// What weights.json may contain. tests/weights_tools/weights-index.test.ts compares other damage with the tools.
import { expect, it } from "vitest";
import { parseWeightsIndex } from "../../web/src/model/weights-index.js";

const piece = { path: "a", size: 4, sha256: "0".repeat(64) };
const ofPieces = (...pieces: object[]) => JSON.stringify({ size: 4, pieces });
const largest = 64 * 1024 * 1024;
/** Eighty times as many pieces as the largest GPT-2 in float32 has. */
const most = 10_000;
const ofMany = (count: number, list = "pieces") => {
  const many = Array.from({ length: count }, (_, place) => ({ ...piece, path: `p.${place}`, size: 0 }));
  return JSON.stringify({ version: 2, size: 0, pieces: [], files: [], [list]: many });
};
const withVersion = (version: string) => `{"version":${version},"size":0,"pieces":[],"files":[]}`;

it.each([
  ["null", "corrupt", ': expected "size" in bytes'],
  ['{"size":1e300,"pieces":[]}', "corrupt", ': expected "size" in bytes'],
  ['{"size":4,"pieces":{}}', "corrupt", ': expected a list "pieces"'],
  [ofPieces({ ...piece, size: 1.5 }), "corrupt", ": piece 0 is not"],
  [ofPieces({ ...piece, size: "4" }), "corrupt", ": piece 0 is not"],
  [ofPieces({ ...piece, size: -4 }), "corrupt", ": piece 0 is not"],
  [ofPieces({ ...piece, path: "a/b" }), "corrupt", ": piece 0 is not"],
  [ofPieces({ ...piece, path: ".a" }), "corrupt", ": piece 0 is not"],
  ['{"version":2,"size":0,"pieces":[],"files":[7]}', "corrupt", ": file 0 is not"],
  [ofPieces({ ...piece, path: 7 }), "corrupt", ": piece 0 is not"],
  [ofPieces({ ...piece, size: largest + 1 }), "corrupt", ": piece 0 is not"],
  [ofPieces({ ...piece, sha256: [piece.sha256] }), "corrupt", ": piece 0 is not"],
  [ofPieces({ ...piece, sha256: `x${piece.sha256}` }), "corrupt", ": piece 0 is not"],
  [ofPieces({ ...piece, sha256: `${piece.sha256}\n` }), "corrupt", ": piece 0 is not"],
  [
    ofPieces(piece, { ...piece, path: "b" }),
    "corrupt",
    ": its pieces have 8 bytes together, but its size is 4",
  ],
  [JSON.stringify({ version: 2, size: 4, pieces: [piece], files: [piece] }), "corrupt", ' lists "a" twice'],
  [ofMany(most + 1), "corrupt", " lists 10001 pieces, expected at most 10000"],
  [ofMany(most + 1, "files"), "corrupt", " lists 10001 files, expected at most 10000"],
  [withVersion("[".repeat(1e5) + "]".repeat(1e5)), "unsupported", " has version an object, expected 2"],
  [withVersion(`"${"x".repeat(1e5)}"`), "unsupported", ` has version "${"x".repeat(39)}, expected 2`],
  [withVersion("null"), "unsupported", " has version null, expected 2"],
])("parseWeightsIndex refuses %.40s", (text, code, sentence) => {
  const message = expect.stringContaining(`weights.json${sentence}`) as string;
  expect(() => parseWeightsIndex(text)).toThrow(expect.objectContaining({ code, message }));
});

it("parseWeightsIndex accepts the largest piece and the largest number of pieces", () => {
  for (const size of [0, largest]) {
    const pieces = [{ ...piece, size }];
    expect(parseWeightsIndex(JSON.stringify({ size, pieces }))).toEqual({ size, pieces });
  }
  expect(parseWeightsIndex(ofMany(most)).pieces).toHaveLength(most);
  expect(parseWeightsIndex(ofMany(most, "files")).files).toHaveLength(most);
  expect(parseWeightsIndex(JSON.stringify({ size: 0, pieces: [], files: [piece] })).files).toBeUndefined();
});
