// GGUF files in the module that converts. tests/weights_tools/other-models.test.ts compares them with the folders that they were
// made from, tests/convert/gguf_reader_test.cc tests their metadata.
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { readText } from "../../web/src/loader/read-text.js";
import { seededTensors } from "../compare/seeded-model.mjs";
import { convert, digests, readWeights, sourceOf } from "./support/convert.js";
import {
  ggufMetadata,
  ggufTensors,
  makeTensor,
  writeGguf,
  type BlockType,
  type GgufTensor,
  type Metadata,
  type Vocabulary,
} from "./support/gguf.js";
import { MemorySource } from "./support/memory-source.js";
import { readSafetensors, writeSafetensors } from "./support/safetensors.js";

const { signal } = new AbortController();

/** Wide enough for a block of 256 values. */
const config = {
  model_type: "gpt2",
  n_embd: 256,
  n_head: 4,
  n_layer: 1,
  n_positions: 16,
  n_inner: 512,
  vocab_size: 40,
  layer_norm_epsilon: 1e-5,
};
const hubTensors = new Map(
  [...seededTensors(config, 11)].map(([name, { shape, values }]) => {
    const bytes = Buffer.from(Float32Array.from(values).buffer);
    return [name, { dtype: "F32", shape, bytes }];
  }),
);
const vocabulary: Vocabulary = {
  vocab: Object.fromEntries([
    ...Array.from({ length: 32 }, (_, i) => [String.fromCharCode(65 + i), i] as const),
    ["AB", 32],
    ["ABC", 33],
    ["<|endoftext|>", 34],
  ]),
  merges: ["A B", "AB C"],
};

/** A file whose matrices are of `type`, with any codes. */
function fileOf(type: BlockType, metadata = ggufMetadata(config, vocabulary), tensors = hubTensors): Buffer {
  const blocks = ggufTensors(tensors, () => type);
  return writeGguf(metadata, blocks);
}

/**
 * The first bytes of the SHA-256 of the token embeddings, in float32. They were computed with a second implementation, which
 * follows dequantize_row_* in ggml-quants.c; `npm run compare:hub` compares each type with llama.cpp itself.
 */
const embeddings: Record<BlockType, string> = {
  F32: "22cf84d2330841d9",
  F16: "dc8dc5fb3c20db79",
  BF16: "68c80266c1d95571",
  Q8_0: "517437479b34a565",
  Q4_0: "0b6b3fcf2985deee",
  Q4_1: "47a0c2d0eacd4142",
  Q5_0: "fcdb4838b199054d",
  Q5_1: "ae8880570b581f25",
  Q2_K: "b890903d57e321ea",
  Q3_K: "4cee05889ccdea93",
  Q4_K: "1625098f3cfc826e",
  Q5_K: "68a1acd302c94f41",
  Q6_K: "4af381f261c669d2",
  IQ4_NL: "2523a165332e86f5",
  IQ4_XS: "c5c688df0375c6a7",
  TQ1_0: "2940d86ae20413ba",
  TQ2_0: "0b989d77176d9b1f",
};

it.each(Object.entries(embeddings))("a GGUF file of %s has the values of ggml", async (type, expected) => {
  const { tensors } = await convert(fileOf(type as BlockType), { weights: "f32" }, 3000);
  const values = tensors.get("wte.weight")?.bytes ?? Buffer.alloc(0);
  expect(createHash("sha256").update(values).digest("hex").slice(0, 16)).toBe(expected);
});

it("a GGUF file may have its own output matrix, and gives the same tensors as a folder", async () => {
  const head = { dtype: "F32", shape: [40, 256], bytes: Buffer.alloc(40 * 256 * 4, 1) };
  const untied = new Map([...hubTensors, ["lm_head.weight", head]]);
  const found = await convert(fileOf("F32", undefined, untied), { weights: "q8" });
  expect(JSON.parse(found.folder.config)).toMatchObject({ tie_word_embeddings: false });
  const text = JSON.stringify({ ...config, tie_word_embeddings: false });
  const expected = await convert(writeSafetensors(untied), { weights: "q8", config: text });
  expect(digests(found.tensors)).toEqual(digests(expected.tensors));
});

it("a GGUF file contains its config and its tokenizer", async () => {
  const { folder } = await convert(fileOf("Q4_0"), { weights: "q8" }, 5);
  expect(JSON.parse(folder.config)).toMatchObject({
    ...config,
    layer_norm_epsilon: expect.closeTo(1e-5, 9),
    tie_word_embeddings: true,
    eos_token_id: 34,
    quantization_config: { quant_method: "gpt2-wasm", weights: "q8", group_size: 32 },
  });
  expect(JSON.parse(folder.vocab)).toEqual(vocabulary.vocab);
  expect(folder.merges).toBe("#version: 0.2\nA B\nAB C\n");
  expect(folder.tokenizerConfig).toBe("");
});

it("a GGUF file acts as a converted folder by itself", async () => {
  const metadata = ggufMetadata(config, vocabulary);
  const types = Array.from({ length: config.vocab_size }, (_, id) => (id < 33 ? 1 : id === 33 ? 4 : 5));
  metadata["tokenizer.ggml.token_type"] = { i32s: types }; // the token 33 is an added one
  const file = fileOf("Q5_K", metadata);
  const source = sourceOf(new MemorySource({ "model.gguf": file }), { weights: "q4", gguf: "model.gguf" });
  expect(JSON.parse(await readText(source, "vocab.json", signal))).toMatchObject({ A: 0 });
  expect(JSON.parse(await readText(source, "tokenizer_config.json", signal))).toEqual({
    added_tokens_decoder: { 33: { content: "ABC", special: false } },
  });
  await expect(source.open("tokenizer.json", { signal })).rejects.toMatchObject({ code: "not-found" });
  expect(JSON.parse(await readText(source, "config.json", signal))).toMatchObject({ n_embd: 256 });
  const { bytes } = await readWeights(source);
  const expected = await convert(file, { weights: "q4" });
  expect(digests(readSafetensors(bytes))).toEqual(digests(expected.tensors));
});

type Damage = (metadata: Metadata, tensors: Map<string, GgufTensor>) => void;
const zeros = (size: number) => makeTensor("F32", [size], new Float32Array(size), Math.random);
const keyHeads = "gpt2.attention.head_count_kv";
const damages: [string, Damage, RegExp][] = [
  ["of another model", (m) => (m["general.architecture"] = { text: "llama" }), /"llama", expected "gpt2"/],
  ["without a size", (m) => delete m["gpt2.block_count"], /"gpt2\.block_count" is missing/],
  ["with a wrong size", (m) => (m["gpt2.embedding_length"] = { u32: 0 }), /"n_embd" is 0/],
  ["that is one of several", (m) => (m["split.count"] = { u32: 2 }), /it is one part/],
  ["with fewer key heads", (m) => (m[keyHeads] = { u32: 1 }), /"gpt2\.attention\.head_count_kv" differs/],
  ["without a tensor", (_, t) => t.delete("blk.0.ffn_up.weight"), /"blk\.0\.ffn_up\.weight" is missing/],
  ["with a tensor too many", (_, t) => t.set("rope", zeros(4)), /"rope" does not belong to a GPT-2/],
  [
    "with a tensor of another shape",
    (_, t) => t.set("output_norm.bias", zeros(255)),
    /"output_norm\.bias" is F32 \[255, 1\], expected \[256, 1\]/,
  ],
];
it.each(damages)("a GGUF file %s is refused", async (_, damage, message) => {
  const metadata = ggufMetadata(config, vocabulary);
  const tensors = ggufTensors(hubTensors, () => "Q8_0");
  damage(metadata, tensors);
  await expect(convert(writeGguf(metadata, tensors), { weights: "q8" })).rejects.toMatchObject({
    name: "LoadError",
    message: expect.stringMatching(message) as string,
  });
});

const file = fileOf("Q8_0");
const patched = (at: number, value: number) => {
  const copy = Buffer.from(file);
  copy.writeUInt32LE(value, at);
  return copy;
};
it.each([
  ["ends in its header", file.subarray(0, 1000), /it ends after \d+ bytes of its header/],
  ["ends in a tensor", file.subarray(0, -200), /it ends inside tensor "/],
  ["is not GGUF", patched(0, 1), /does not begin with "GGUF"/],
  ["has an unknown version", patched(4, 1), /version 1, expected 2 or 3/],
  ["has too many tensors", patched(8, 1e6), /1000000 tensors/],
  ["has a key that is too long", patched(28, 1), /the text "key" has \d+ bytes, expected at most/],
])("a GGUF file that %s is refused", async (_, bytes, message) => {
  await expect(convert(bytes, { weights: "q8" })).rejects.toThrow(message);
});
