// Models as others publish them: GGUF files, and folders whose weights are in several files.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ggufMetadata, ggufTensors, writeGguf, type Metadata } from "../web/support/gguf.js";
import { readSafetensors } from "../web/support/safetensors.js";
import { shardNames } from "../../web/src/model/convert/weight-files.js";
import {
  filesFrom,
  folderOf,
  json,
  piecesOf,
  refusal,
  root,
  scratch,
  shardsOf,
  tiny,
  weights,
} from "./tool.js";

const hub = join(tiny, "tied");
const tensors = readSafetensors(readFileSync(join(hub, "model.safetensors")));
const config = JSON.parse(readFileSync(join(hub, "config.json"), "utf8")) as Record<string, unknown>;

/** The first tokens that `model` writes, which quantized weights change. */
const written = (model: string, ...options: string[]) =>
  json([
    ...["generate", model, "--ids", "1,2,3", "--max-new-tokens", "20", "--temperature", "0", "--json"],
    ...options,
  ]);
/** The same of the converted `model`, as a page converts it. */
function writtenOnceConverted(model: string, format: string) {
  const out = join(scratch, "as-a-page");
  json(["convert", model, out, "--weights", format, "--calibration-tokens", "0", "--force", "--json"]);
  return written(out);
}

const ggufOf = (fields: Metadata) =>
  writeGguf(
    fields,
    ggufTensors(tensors, () => "F32"),
  );
const gguf = join(folderOf({ "model.gguf": ggufOf(ggufMetadata(config)) }), "model.gguf");

const shards = folderOf({ ...filesFrom(hub, "config.json"), ...shardsOf(tensors) }, "shards");
const lastShard = "model-00002-of-00002.safetensors";

const data = join(root, "tests/data/torch");
/** A folder with `names` of `data`, and `weights` of it as pytorch_model.bin. */
const torchFolder = (weights?: string, ...names: string[]) =>
  folderOf({
    ...filesFrom(data, "config.json", ...names),
    ...(weights && { "pytorch_model.bin": readFileSync(join(data, weights)) }),
  });
const torch = torchFolder("zip.bin");
const torchShards = torchFolder(
  undefined,
  "pytorch_model.bin.index.json",
  "pytorch_model-00001-of-00002.bin",
  "pytorch_model-00002-of-00002.bin",
);

describe.each([
  ["a GGUF file", gguf, hub],
  ["weights in several files", shards, hub],
  ["pytorch_model.bin", torch, data],
  ["pytorch_model.bin in several files", torchShards, data],
])("%s", (_, model, original) => {
  it.each(["f32", "f16", "q8", "q4"])(
    "the model converts to the same %s as its one safetensors file",
    (format) => {
      expect(piecesOf(model, format)).toEqual(piecesOf(original, format));
    },
  );

  it.each(["f32", "q8", "q4"])("the model runs in %s as on the page", (format) => {
    expect(written(model, "--weights", format)).toEqual(writtenOnceConverted(model, format));
  });

  it("the model runs by default in 8 bits", () => {
    expect(written(model)).toEqual(written(original, "--weights", "q8"));
  });
});

describe("a GGUF file", () => {
  describe("with a tokenizer", () => {
    const vocab = Object.fromEntries(
      [...Array(Number(config.vocab_size)).keys()].map((id) => [`t${id}`, id]),
    );
    const model = join(scratch, "rules.gguf");
    const converted = (fields: Metadata) => {
      writeFileSync(model, ggufOf({ ...ggufMetadata(config, { vocab, merges: [] }), ...fields }));
      return weights(["convert", model, join(scratch, "rules"), "--weights", "q8", "--force"]);
    };
    const named = (rules: string) => converted({ "tokenizer.ggml.pre": { text: rules } });

    it.each(["gpt-2", "default", "olmo", "phi-2"])(
      "a GGUF tokenizer with the rules %s, which are GPT-2's, is kept",
      (rules) => {
        expect(named(rules).status).toBe(0);
        const kept = readFileSync(join(scratch, "rules/vocab.json"), "utf8");
        expect(JSON.parse(kept)).toEqual(vocab);
      },
    );

    describe("of bytes and added tokens", () => {
      const letters = Object.fromEntries(Array.from("abcdefghij").map((letter, id) => [letter, id]));
      const tokens = [...Object.keys(letters), "<user>", "<control>"];
      const types = [...Object.keys(letters).map(() => 1), 4, 3];
      while (tokens.length < Number(config.vocab_size)) {
        types.push(5);
        tokens.push(`[PAD${tokens.length}]`);
      }
      const fields = {
        "tokenizer.ggml.tokens": { texts: tokens },
        "tokenizer.ggml.token_type": { i32s: types },
      };
      const ids = (folder: string, ...options: string[]) =>
        json(["tokenize", folder, ...options], "a<user>bj<control>") as number[];

      it("a GGUF tokenizer finds added tokens in the text, as llama.cpp does", () => {
        expect(converted(fields).status).toBe(0);
        expect(ids(join(scratch, "rules"), "--allow-special")).toEqual([0, 10, 1, 9, 11]);
      });

      it("a GGUF tokenizer begins a text with the token of add_bos_token", () => {
        const begin = {
          "tokenizer.ggml.add_bos_token": { flag: true },
          "tokenizer.ggml.bos_token_id": { u32: 11 },
        };
        expect(converted({ ...fields, ...begin }).status).toBe(0);
        expect(ids(join(scratch, "rules"), "--allow-special")).toEqual([11, 0, 10, 1, 9, 11]);
      });

      it.each([
        ["tokenizer.ggml.add_bos_token", { flag: true }],
        ["tokenizer.ggml.add_eos_token", { flag: true }],
        ["tokenizer.ggml.add_space_prefix", { flag: true }],
        ["tokenizer.ggml.add_eos_token", { u32: 1 }],
        ["tokenizer.ggml.token_type", { i32s: tokens.map(() => 6) }],
        ["tokenizer.ggml.token_type", { i32s: [1] }],
        ["tokenizer.ggml.model", { text: "llama" }],
      ])("a GGUF tokenizer is refused, and the error names %s, which is %j", (key, value) => {
        expect(refusal(converted({ ...fields, [key]: value }))).toContain(`"${key}"`);
      });
    });
  });

  it("an error about a damaged GGUF file names it", () => {
    const damaged = join(folderOf({ "damaged.gguf": readFileSync(gguf).subarray(0, 3000) }), "damaged.gguf");
    expect(refusal(weights(["convert", damaged, join(scratch, "none")]))).toContain(
      `${damaged}: the GGUF file: it ends`,
    );
  });
});

describe("weights in several files", () => {
  it("converted weights in several files keep their format", () => {
    const out = join(scratch, "converted-once");
    json(["convert", shards, out, "--weights", "f32", "--json"]);
    expect(refusal(weights(["generate", out, "--ids", "1", "--weights", "q4"]))).toContain(
      "is already converted to f32",
    );
  });

  it.each([`../shards/${lastShard}`, "a\\b", "a:b", ".. ", "", "a\u202eb", "x".repeat(1025)])(
    "an index that names a file %j is refused by the tool and the module",
    (name) => {
      const index = JSON.stringify({ weight_map: { "wte.weight": name } });
      const away = folderOf({ ...filesFrom(hub, "config.json"), "model.safetensors.index.json": index });
      const wanted = 'expected "weight_map" with the name of a file for each tensor, found ';
      expect(refusal(weights(["convert", away, join(scratch, "none")]))).toContain(`${wanted}an object of 1`);
      expect(() => shardNames("index", index)).toThrow(wanted);
    },
  );

  it("an error about one damaged file among several names it", () => {
    writeFileSync(join(shards, lastShard), "<html>");
    expect(refusal(weights(["convert", shards, join(scratch, "none")]))).toContain(lastShard);
  });
});

describe("pytorch_model.bin", () => {
  it("model.safetensors takes precedence over pytorch_model.bin", () => {
    const both = torchFolder("exploit.bin", "model.safetensors");
    expect(piecesOf(both, "q8")).toEqual(piecesOf(data, "q8"));
  });

  it("a pickle that would run a program is refused by name, and runs nothing", () => {
    const run = weights(["convert", torchFolder("exploit.bin"), join(scratch, "none")]);
    expect(refusal(run)).toContain("pytorch_model.bin: this file would call posix.system, which weights do");
    expect(run.stdout).toBe("");
  });
});
