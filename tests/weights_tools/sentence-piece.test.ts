// Models whose only tokenizer is a SentencePiece file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { charsmap, pieceTypes, sentencePieceFile } from "../support/sentence-piece.mjs";
import { folderOf, json, scratch, tiedFiles, weights } from "./tool.js";

const letters = Array.from("abcdefghijklmnopqrstuvwxyz", (letter, i): [string, number] => [
  letter,
  -4 - i / 16,
]);
const file = sentencePieceFile(
  [["<unk>", 0, pieceTypes.unknown], ["</s>", 0, pieceTypes.control], ["▁", -3], ["▁ab", -4], ...letters],
  { model_type: 1 },
  { precompiled_charsmap: charsmap([["ａ", "a"]]) },
);
const settings = { tokenizer_class: "T5Tokenizer", extra_ids: 0, do_lower_case: true };

/** A seeded model with the file `name`. */
const model = (name = "spiece.model", more: Record<string, string> = {}) =>
  folderOf({ ...tiedFiles(), [name]: file, "tokenizer_config.json": JSON.stringify(settings), ...more });
const tokenize = (folder: string, text: string) => json(["tokenize", folder], text);

describe("a model whose only tokenizer is a SentencePiece file", () => {
  it("a SentencePiece tokenizer is read from spiece.model and from tokenizer.model", () => {
    for (const name of ["spiece.model", "tokenizer.model"]) {
      expect(tokenize(model(name), "ａB  ab")).toEqual([3, 3, 1]);
    }
  });

  it("a model with a SentencePiece tokenizer writes texts, and conversion copies the file unchanged", () => {
    const folder = model();
    const write = (from: string) =>
      json(["generate", from, "--json", "--prompt", "ab", "--max-new-tokens", "4", "--temperature", "0"]);
    const out = join(scratch, "converted");
    expect(weights(["convert", folder, out, "--weights", "f32"])).toMatchObject({ status: 0 });
    expect(readFileSync(join(out, "spiece.model"))).toEqual(file);
    const { files } = JSON.parse(readFileSync(join(out, "weights.json"), "utf8")) as { files: object[] };
    for (const path of ["spiece.model", "tokenizer_config.json"])
      expect(files).toContainEqual(expect.objectContaining({ path }));
    const { ids } = write(folder);
    expect(ids).toHaveLength(4);
    expect(write(out).ids).toEqual(ids);
  });

  it("tokenizer.json takes precedence over a SentencePiece file", () => {
    const rules = { pre_tokenizer: { type: "Whitespace" }, model: { type: "WordLevel", vocab: { a: 7 } } };
    const folder = model("spiece.model", { "tokenizer.json": JSON.stringify(rules) });
    expect(tokenize(folder, "a a")).toEqual([7, 7]);
  });
});
