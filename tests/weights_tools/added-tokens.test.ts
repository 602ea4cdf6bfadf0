// Tokens that a fine-tune has added are read and written, stop a text and limit healing. Vocabularies may be smaller than
// the matrix.
import { describe, expect, it } from "vitest";
import { safetensorsFile, seededTensors } from "../compare/seeded-model.mjs";
import { folderOf, json, refusal, weights } from "./tool.js";

const byte = (text: string) => text.charCodeAt(0);
const start = 256;
const end = 257;
const vocabSize = 260;
const config = { n_embd: 32, n_head: 2, n_layer: 1, n_positions: 32, vocab_size: vocabSize };

/** GPT-2's letter for each byte. */
const isShown = (i: number) => (i > 32 && i < 127) || (i > 160 && i < 256 && i !== 173);
const hidden = Array.from({ length: 256 }, (_, i) => i).filter((i) => !isShown(i));
const spelled = (i: number) => String.fromCharCode(isShown(i) ? i : 256 + hidden.indexOf(i));
const bytes = Object.fromEntries(Array.from({ length: 256 }, (_, i) => [spelled(i), i]));

const added = (id: number, content: string, special = true) => ({ id, content, special, normalized: false });
const chat = [added(start, "<|im_start|>"), added(end, "<|im_end|>"), added(258, "<tool>", false)];

/** A tokenizer of single bytes. */
const tokenizer = (added_tokens: object[] = chat, vocab: Record<string, number> = bytes) => ({
  added_tokens,
  normalizer: null,
  pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: true },
  post_processor: null,
  decoder: { type: "ByteLevel" },
  model: { type: "BPE", vocab, merges: [] },
});

/** A model that writes `text` from position 1 on, whatever the prompt is. The next token depends only on the position. */
function model(file: object, text: readonly number[] = []): string {
  const width = config.n_embd;
  const distinct = [...new Set(text)];
  const tensors = new Map(
    [...seededTensors(config)].map(([name, { shape, values }]) => {
      const filled = new Float32Array(values.length).fill(name === "ln_f.weight" ? 1 : 0);
      if (name === "wte.weight") distinct.forEach((id, i) => (filled[id * width + i] = 1));
      if (name === "wpe.weight") text.forEach((id, at) => (filled[at * width + distinct.indexOf(id)] = 20));
      return [name, { shape, values: filled }];
    }),
  );
  return folderOf({
    "config.json": JSON.stringify({ model_type: "gpt2", ...config }),
    "model.safetensors": safetensorsFile(tensors),
    "tokenizer.json": JSON.stringify(file),
  });
}

const written = [byte("a"), byte("b"), end, byte("c"), 258, byte("d")];
const folder = model(tokenizer(), written);
const writeWith = (model: string, ...options: string[]) =>
  json(["generate", model, "--json", "--temperature", "0", ...options]);
const write = (...options: string[]) => writeWith(folder, "--max-new-tokens", "6", ...options);

describe("added tokens", () => {
  const tokenize = (text: string, ...options: string[]) => json(["tokenize", folder, ...options], text);

  it("added tokens are found in a text: special ones only if allowed, others always", () => {
    expect(tokenize("<|im_start|>u<tool>", "--allow-special")).toEqual([start, byte("u"), 258]);
    expect(tokenize("<|im_start|>u<tool>")).toEqual(Array.from("<|im_start|>u", byte).concat(258));
    expect(tokenize("x<|im_end|>y", "--allow-special")).toEqual([byte("x"), end, byte("y")]);
  });

  it("added tokens are written out by detokenize and by generate", () => {
    const prompt = JSON.stringify([start, byte("u"), 258]);
    expect(weights(["detokenize", folder], prompt).stdout.trimEnd()).toBe("<|im_start|>u<tool>");
    const { ids, text } = write("--ids", "120");
    expect(ids).toEqual(written);
    expect(text).toBe("ab<|im_end|>c<tool>d");
  });

  it("added tokens end a text as a stop text, or as a part of one", () => {
    expect(write("--ids", "120", "--stop", "<|im_end|>").text).toBe("ab");
    expect(write("--ids", "120", "--stop", "b<|im").text).toBe("a");
    expect(write("--ids", "120", "--stop", "end|>c<to").text).toBe("ab<|im_");
  });

  it("heal neither takes back nor writes added tokens", () => {
    const heal = (prompt: string) => write("--prompt", prompt, "--allow-special", "--heal");
    // No text after the token needs healing, so the model continues at once.
    expect(heal("x<|im_end|>").ids.slice(0, 5)).toEqual(written.slice(1));
    // Healing removes "b" and allows only "b" again, although the model would write <|im_end|> there.
    expect(heal("x<|im_end|>b").ids[0]).toBe(byte("b"));
    expect(heal("<").text.startsWith("<|im")).toBe(false);
  });
});

describe("a vocabulary that differs in size from the matrix", () => {
  it("a vocabulary may be smaller than the matrix: the other rows decode to nothing", () => {
    const small = model(tokenizer([]), [259, byte("a")]);
    const { ids, text } = writeWith(small, "--ids", "120", "--max-new-tokens", "2");
    expect(ids).toEqual([259, byte("a")]);
    expect(text).toBe("a");
  });

  it("a vocabulary may have holes, which decode to nothing; detokenize refuses ids beyond the matrix", () => {
    const holed = model(tokenizer([], { ...bytes, ab: 258 }));
    expect(json(["tokenize", holed], "ab")).toEqual([byte("a"), byte("b")]);
    expect(weights(["detokenize", holed], "[97,257,258]").stdout.trimEnd()).toBe("aab");
    // A model may write the id of a row that has no token.
    expect(weights(["detokenize", holed], "[97,259,97]").stdout.trimEnd()).toBe("aa");
    expect(weights(["detokenize", holed], "[97,260]").stderr).toContain("token id 260, expected 0 to 259");
  });

  // `tokenizer.add_special_tokens({"pad_token": "[PAD]"})` gives such a model, because the matrix does not grow.
  it("an added token may lie beyond the matrix, but no prompt may contain it", () => {
    const pads = [...chat, added(259, "[A]"), added(vocabSize, "[PAD]")];
    const padded = model(tokenizer(pads), written);
    expect(json(["tokenize", padded, "--allow-special"], "a[PAD]")).toEqual([byte("a"), vocabSize]);
    expect(writeWith(padded, "--prompt", "a", "--max-new-tokens", "1").text).toBe("a");
    expect(refusal(weights(["generate", padded, "--prompt", "a[PAD]", "--allow-special"]))).toContain(
      "token id 260",
    );
  });
});
