// Tokenizers of other languages in WebAssembly, in Node.js. The `wasm` step of `npm test` builds the module.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { pieceTypes, sentencePieceFile } from "../support/sentence-piece.mjs";
import { LanguageTokenizer } from "../../web/src/model/convert/languages.js";

const root = resolve(import.meta.dirname, "../..");
const header = readFileSync(resolve(root, "engine/api/languages.h"), "utf8");

let code: WebAssembly.Module;
beforeAll(async () => {
  code = await WebAssembly.compile(readFileSync(resolve(root, "build/wasm/engine/gpt2-languages.wasm")));
});

const vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n中\nab\n##c\n";
const read = (files: Record<string, string>, size = 100) => LanguageTokenizer.read(code, files, size);

it("the tokenizer module exports the functions of its header, and imports only memory and numbers", () => {
  const declared = [...header.matchAll(/^[\w*\s]*?\b(gpt2_languages_\w+)\(/gm)].map(([, name]) => name);
  const exported = WebAssembly.Module.exports(code).map(({ name }) => name);
  expect(declared.length).toBeGreaterThan(5);
  expect(exported).toEqual(expect.arrayContaining(declared));
  expect(WebAssembly.Module.imports(code).map(({ name }) => name)).toEqual(
    expect.not.arrayContaining(["fd_write", "proc_exit"]),
  );
});

it("the tokenizer module turns a text into ids, and ids into text", async () => {
  const tokenizer = await read({ "vocab.txt": vocabulary });
  expect(tokenizer.encode("ABC 中[SEP]?", true, "both")).toEqual([2, 5, 6, 4, 3, 1, 3]);
  expect(tokenizer.encode("ABC 中", false, "beginning")).toEqual([2, 5, 6, 4]);
  expect(tokenizer.encode("ABC 🍓", false, "both", true)).toEqual(
    [
      [2, 0, 0],
      [5, 0, 2],
      [6, 2, 3],
      [1, 4, 6],
      [3, 6, 6],
    ].flat(), // each id, and where it is in the text
  );
  expect(tokenizer.decode([5, 6, 4])).toBe("abc 中");
  expect(JSON.parse(tokenizer.tokens)).toHaveLength(7);
});

it("the tokenizer module reads a SentencePiece file, passed as one character per byte", async () => {
  const pieces: [string, number, number?][] = [
    ["<unk>", 0, pieceTypes.unknown],
    ["▁", -2],
    ["é", -3],
    ["a", -3],
  ];
  const file = (model_type: number) => sentencePieceFile(pieces, { model_type }).toString("latin1");
  const tokenizer = await read({ "tokenizer.model": file(1) });
  expect(tokenizer.encode("éa", false, "both")).toEqual([1, 2, 3]);
  expect(tokenizer.decode([1, 2, 3])).toBe("éa");
  await expect(read({ "spiece.model": file(2) })).rejects.toThrow('spiece.model: "model_type" is BPE');
  await expect(read({ "spiece.model": "\u2581" })).rejects.toThrow("does not stand for a byte");
});

it("the tokenizer module names a field that it does not support", async () => {
  const json = { normalizer: { type: "Nmt" }, model: { type: "WordLevel", vocab: { a: 0 } } };
  const reading = read({ "tokenizer.json": JSON.stringify(json) });
  await expect(reading).rejects.toMatchObject({ code: "unsupported" });
  await expect(reading).rejects.toThrow('"normalizer.type" is "Nmt"');
});
