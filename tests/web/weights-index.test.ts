import { describe, expect, it } from "vitest";
import { parseWeightsIndex } from "../../web/src/loader/weights-index.js";

const piece = { path: "a", size: 4, sha256: "0".repeat(64) };
const ofPieces = (...pieces: object[]) => JSON.stringify({ size: 4, pieces });
const largest = 64 * 1024 * 1024;
/** Eighty times as many pieces as the largest GPT-2 in float32 has. */
const most = 10_000;
const ofMany = (count: number, list = "pieces") => {
  const many = Array.from({ length: count }, (_, place) => ({ ...piece, path: `p.${place}`, size: 0 }));
  return JSON.stringify({ version: 2, size: 0, pieces: [], files: [], [list]: many });
};

describe("parseWeightsIndex", () => {
  it.each([
    ["", "not valid JSON"],
    ["null", 'expected "size" in bytes'],
    ["7", 'expected "size" in bytes'],
    ['{"size":4}', 'expected a list "pieces"'],
    ['{"size":4,"pieces":{}}', 'expected a list "pieces"'],
    ['{"size":"0","pieces":[]}', 'expected "size" in bytes'],
    ['{"size":0.5,"pieces":[]}', 'expected "size" in bytes'],
    ['{"size":-1,"pieces":[]}', 'expected "size" in bytes'],
    ['{"size":1e300,"pieces":[]}', 'expected "size" in bytes'],
    ['{"version":2,"size":0,"pieces":[]}', 'expected a list "files"'],
    ['{"version":2,"size":0,"pieces":[],"files":[7]}', "file 0 is not"],
    ['{"size":4,"pieces":[null]}', "piece 0 is not"],
    ['{"size":4,"pieces":["a"]}', "piece 0 is not"],
    [ofPieces({ ...piece, path: 7 }), "piece 0 is not"],
    [ofPieces({ ...piece, path: "" }), "piece 0 is not"],
    [ofPieces({ ...piece, size: "4" }), "piece 0 is not"],
    [ofPieces({ ...piece, size: 0.5 }), "piece 0 is not"],
    [ofPieces({ ...piece, size: largest + 1 }), "piece 0 is not"],
    [ofPieces({ ...piece, sha256: 7 }), "piece 0 is not"],
    [ofPieces({ ...piece, sha256: ["0".repeat(64)] }), "piece 0 is not"],
    [ofPieces({ ...piece, sha256: `${piece.sha256}0` }), "piece 0 is not"],
    [ofPieces({ ...piece, sha256: `x${piece.sha256}` }), "piece 0 is not"],
    [ofPieces({ ...piece, sha256: `${piece.sha256}\n` }), "piece 0 is not"],
    [ofPieces(piece, { ...piece, path: "/" }), "piece 1 is not"],
    [ofPieces(piece, { ...piece, path: "b" }), "8 bytes together, but its size is 4"],
    [ofPieces({ ...piece, size: 0 }, piece, { ...piece, path: "b" }), 'lists "a" twice'],
    [JSON.stringify({ version: 2, size: 4, pieces: [piece], files: [piece] }), 'lists "a" twice'],
  ])("parseWeightsIndex refuses %s", (text, sentence) => {
    expect(() => parseWeightsIndex(text)).toThrow(
      expect.objectContaining({ code: "corrupt", message: expect.stringContaining(sentence) }),
    );
  });

  it.each([0, largest])("parseWeightsIndex accepts a piece of %i bytes", (size) => {
    const pieces = [{ ...piece, size }];
    expect(parseWeightsIndex(JSON.stringify({ size, pieces }))).toEqual({ size, pieces });
  });

  it.each(["pieces", "files"])("parseWeightsIndex refuses more %s than any model has", (list) => {
    expect(() => parseWeightsIndex(ofMany(most + 1, list))).toThrow(
      expect.objectContaining({
        code: "corrupt",
        message: `weights.json lists 10001 ${list}, expected at most 10000`,
      }),
    );
  });

  it("parseWeightsIndex accepts as many pieces as a model may have", () => {
    expect(parseWeightsIndex(ofMany(most)).pieces).toHaveLength(most);
  });

  it.each([
    ["[".repeat(100_000) + "]".repeat(100_000), "an object"],
    ["{}", "an object"],
    [JSON.stringify("x".repeat(100_000)), `"${"x".repeat(39)}`],
    ["true", "true"],
  ])("parseWeightsIndex states a wrong version in a short message: %#", (version, found) => {
    expect(() => parseWeightsIndex(`{"version":${version},"size":0,"pieces":[],"files":[]}`)).toThrow(
      expect.objectContaining({
        code: "unsupported",
        message: `weights.json has version ${found}, expected 2`,
      }),
    );
  });

  it("parseWeightsIndex accepts the files of version 2, and of no other", () => {
    const files = [{ ...piece, path: "config.json" }];
    const index = { size: 4, pieces: [piece], files };
    expect(parseWeightsIndex(JSON.stringify(index)).files).toBeUndefined();
    expect(parseWeightsIndex(JSON.stringify({ version: 2, ...index }))).toEqual(index);
    for (const version of [1, 3, "2", null]) {
      expect(() => parseWeightsIndex(JSON.stringify({ version, ...index }))).toThrow(
        expect.objectContaining({
          code: "unsupported",
          message: `weights.json has version ${JSON.stringify(version)}, expected 2`,
        }),
      );
    }
  });
});
