// Models as others publish them: GGUF files, and folders whose weights are in several files.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ggufMetadata, ggufTensors, writeGguf } from "../web/support/gguf.js";
import { readSafetensors, writeSafetensors } from "../web/support/safetensors.js";
import { contents, json, refusal, scratch, tiny, weights } from "./tool.js";

const hub = join(tiny, "tied");
const tensors = readSafetensors(readFileSync(join(hub, "model.safetensors")));
const config = JSON.parse(readFileSync(join(hub, "config.json"), "utf8")) as Record<string, unknown>;

/** The pieces of what `model` becomes, by name; the rest of the folder says how it is called. */
function piecesOf(model: string, format: string): Record<string, string> {
  const out = join(scratch, "out");
  const options = ["--weights", format, "--calibration-tokens", "0", "--force", "--json"];
  json(["convert", model, out, ...options]);
  return Object.fromEntries(Object.entries(contents(out)).filter(([name]) => name.startsWith("model.")));
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

  it.each(["f32", "q8", "q4"])("becomes what the folder that it was made from becomes in %s", (format) => {
    expect(piecesOf(file, format)).toEqual(piecesOf(hub, format));
  });

  it("is run, too, as its folder is", () => {
    const generate = (model: string) =>
      json(["generate", model, "--ids", "1,2,3", "--max-new-tokens", "8", "--temperature", "0", "--json"]);
    expect(generate(file)).toEqual(generate(hub));
  });

  describe("with a tokenizer", () => {
    const vocab = Object.fromEntries(
      [...Array(Number(config.vocab_size)).keys()].map((id) => [`t${id}`, id]),
    );
    const named = (rules: string) => {
      const model = join(scratch, "rules.gguf");
      const metadata = {
        ...ggufMetadata(config, { vocab, merges: [] }),
        "tokenizer.ggml.pre": { text: rules },
      };
      const made = writeGguf(
        metadata,
        ggufTensors(tensors, () => "F32"),
      );
      writeFileSync(model, made);
      return weights(["convert", model, join(scratch, "rules"), "--weights", "q8", "--force"]);
    };

    it.each(["gpt-2", "default", "olmo", "phi-2"])(
      "of the rules %s, which are GPT-2's, keeps it",
      (rules) => {
        expect(named(rules).status).toBe(0);
        const kept = readFileSync(join(scratch, "rules/vocab.json"), "utf8");
        expect(JSON.parse(kept)).toEqual(vocab);
      },
    );

    it.each(["llama-bpe", "gpt-4o", "starcoder"])("of the rules %s is refused by their name", (rules) => {
      expect(refusal(named(rules))).toContain(
        `its tokenizer is "gpt2" with the rules "${rules}", expected "gpt2" with "gpt-2"`,
      );
    });
  });

  it("that is damaged is named", () => {
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

  it.each(["f16", "q8"])("become what one file becomes in %s", (format) => {
    expect(piecesOf(folder, format)).toEqual(piecesOf(hub, format));
  });

  it("of which one is damaged are refused by its name", () => {
    writeFileSync(join(folder, names[1] ?? ""), "<html>");
    expect(refusal(weights(["convert", folder, join(scratch, "none")]))).toContain(names[1]);
  });
});
