// Models as others publish them: GGUF files, and folders whose weights are in several files.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ggufMetadata, ggufTensors, writeGguf, type Metadata } from "../web/support/gguf.js";
import { readSafetensors, writeSafetensors } from "../web/support/safetensors.js";
import { contents, json, refusal, root, scratch, tiny, weights } from "./tool.js";

const hub = join(tiny, "tied");
const tensors = readSafetensors(readFileSync(join(hub, "model.safetensors")));
const config = JSON.parse(readFileSync(join(hub, "config.json"), "utf8")) as Record<string, unknown>;

/** The pieces of the converted `model`, by name. The other files contain its name, which differs. */
function piecesOf(model: string, format: string): Record<string, string> {
  const out = join(scratch, "out");
  const options = ["--weights", format, "--calibration-tokens", "0", "--force", "--json"];
  json(["convert", model, out, ...options]);
  return Object.fromEntries(Object.entries(contents(out)).filter(([name]) => name.startsWith("model.")));
}

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

describe("a GGUF file", () => {
  const file = join(scratch, "model.gguf");
  writeFileSync(
    file,
    writeGguf(
      ggufMetadata(config),
      ggufTensors(tensors, () => "F32"),
    ),
  );

  it.each(["f32", "q8", "q4"])(
    "a GGUF file converts to the same %s as the folder that it was made from",
    (format) => {
      expect(piecesOf(file, format)).toEqual(piecesOf(hub, format));
    },
  );

  it("a GGUF file runs like its folder, by default in 8 bits as on the page", () => {
    expect(written(file)).toEqual(written(hub));
    expect(written(file)).toEqual(written(file, "--weights", "q8"));
  });

  it.each(["f32", "q8", "q4"])("a GGUF file runs in %s as on the page", (format) => {
    expect(written(file, "--weights", format)).toEqual(writtenOnceConverted(file, format));
  });

  describe("with a tokenizer", () => {
    const vocab = Object.fromEntries(
      [...Array(Number(config.vocab_size)).keys()].map((id) => [`t${id}`, id]),
    );
    const model = join(scratch, "rules.gguf");
    const converted = (fields: Metadata) => {
      const metadata = { ...ggufMetadata(config, { vocab, merges: [] }), ...fields };
      const made = writeGguf(
        metadata,
        ggufTensors(tensors, () => "F32"),
      );
      writeFileSync(model, made);
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

    it.each(["llama-bpe", "gpt-4o", "starcoder"])(
      "a GGUF tokenizer with the rules %s is refused by name",
      (rules) => {
        expect(refusal(named(rules))).toContain(`"tokenizer.ggml.pre" is "${rules}", expected "gpt-2"`);
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
    const damaged = join(scratch, "damaged.gguf");
    writeFileSync(damaged, readFileSync(file).subarray(0, 3000));
    expect(refusal(weights(["convert", damaged, join(scratch, "none")]))).toContain(
      `${damaged}: the GGUF file: it ends`,
    );
  });
});

describe("weights in several files", () => {
  const folder = join(scratch, "shards");
  const names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
  const entries = [...tensors];
  mkdirSync(folder);
  copyFileSync(join(hub, "config.json"), join(folder, "config.json"));
  names.forEach((name, i) => {
    const part = entries.filter((_, at) => at % 2 === i);
    writeFileSync(join(folder, name), writeSafetensors(new Map(part)));
  });
  const weight_map = Object.fromEntries(entries.map(([name], at) => [name, names[at % 2]]));
  writeFileSync(join(folder, "model.safetensors.index.json"), JSON.stringify({ metadata: {}, weight_map }));

  it.each(["f16", "q8"])("weights in several files convert to the same %s folder as one file", (format) => {
    expect(piecesOf(folder, format)).toEqual(piecesOf(hub, format));
  });

  it.each(["f32", "q8", "q4"])(
    "weights in several files run in %s as on the page, and like one file",
    (format) => {
      const expected = writtenOnceConverted(folder, format);
      expect(written(folder, "--weights", format)).toEqual(expected);
      expect(written(hub, "--weights", format)).toEqual(expected);
    },
  );

  it("converted weights in several files keep their format", () => {
    const out = join(scratch, "converted-once");
    json(["convert", folder, out, "--weights", "f32", "--json"]);
    expect(refusal(weights(["generate", out, "--ids", "1", "--weights", "q4"]))).toContain(
      "is already converted to f32",
    );
  });

  it("an index with a file of another folder is refused", () => {
    const away = join(scratch, "shards-elsewhere");
    mkdirSync(away);
    copyFileSync(join(hub, "config.json"), join(away, "config.json"));
    const index = JSON.stringify({ weight_map: { "wte.weight": `../shards/${names[0]}` } });
    writeFileSync(join(away, "model.safetensors.index.json"), index);
    expect(refusal(weights(["convert", away, join(scratch, "none")]))).toContain(
      'expected "weight_map" with the name of a file for each tensor, found an object of 1',
    );
  });

  it("an error about one damaged file among several names it", () => {
    writeFileSync(join(folder, names[1] ?? ""), "<html>");
    expect(refusal(weights(["convert", folder, join(scratch, "none")]))).toContain(names[1]);
  });
});

describe("pytorch_model.bin", () => {
  const data = join(root, "tests/data/torch");
  const folder = join(scratch, "torch");
  const index = "pytorch_model.bin.index.json";
  const parts = ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"];
  /** A folder with the config and these files of `data`, by their names in it. */
  const give = (files: Record<string, string>) => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    for (const [name, from] of Object.entries({ "config.json": "config.json", ...files }))
      copyFileSync(join(data, from), join(folder, name));
  };

  it.each(["zip", "older", "float16", "bfloat16", "one-storage", "interleaved", "parameters"])(
    "a pytorch_model.bin of the form %s converts to the same bytes as its model.safetensors",
    (form) => {
      give({ "pytorch_model.bin": `${form}.bin` });
      for (const format of ["f16", "q8", "q4"])
        expect(piecesOf(folder, format)).toEqual(piecesOf(data, format));
    },
  );

  it("pytorch_model.bin in several files converts through its index", () => {
    give(Object.fromEntries([index, ...parts].map((name) => [name, name])));
    expect(piecesOf(folder, "q8")).toEqual(piecesOf(data, "q8"));
  });

  it("pytorch_model.bin has the same logits and writes the same text", () => {
    const of = (command: string, model: string) =>
      json([command, model, "--ids", "1,2,3", "--weights", "f32", "--json"]);
    give({ "pytorch_model.bin": "zip.bin" });
    expect(of("generate", folder).ids).toEqual(of("generate", data).ids);
    expect(of("trace", folder)).toEqual(of("trace", data));
  });

  it("model.safetensors takes precedence over pytorch_model.bin", () => {
    give({ "model.safetensors": "model.safetensors", "pytorch_model.bin": "exploit.bin" });
    expect(piecesOf(folder, "q8")).toEqual(piecesOf(data, "q8"));
  });

  it("a pickle that would run a program is refused by name, and runs nothing", () => {
    give({ "pytorch_model.bin": "exploit.bin" });
    const run = weights(["convert", folder, join(scratch, "none")]);
    expect(refusal(run)).toContain("pytorch_model.bin: this file would call posix.system, which weights do");
    expect(run.stdout).toBe("");
  });

  it("a truncated pytorch_model.bin is refused", () => {
    give({ "pytorch_model.bin": "zip.bin" });
    writeFileSync(join(folder, "pytorch_model.bin"), readFileSync(join(data, "zip.bin")).subarray(0, 5000));
    expect(refusal(weights(["convert", folder, join(scratch, "none")]))).toContain(
      "pytorch_model.bin: it begins like a zip file, but has no end record",
    );
  });
});
