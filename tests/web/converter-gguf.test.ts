// GGUF files in the module that converts. tests/weights_tools/other-models.test.ts compares them with the folders that they were
// made from, tests/convert/gguf_reader_test.cc tests their metadata.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { StoredFormat } from "../../web/src/shared/formats.js";
import type { ModelSource } from "../../web/src/model/sources/model-source.js";
import { readText } from "../../web/src/model/sources/read-text.js";
import { seededTensors } from "../compare/seeded-model.mjs";
import { root } from "../weights_tools/tool.js";
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

// Files of torch.save in the module that converts, which tests/data/torch/make.py wrote. program.test.ts and
// tests/convert/torch_file_test.cc compare what becomes of them, and tests/convert has the damaged ones.
const data = (name: string) => readFileSync(join(root, "tests/data/torch", name));
type Files = Record<string, Buffer>;
const folder = (files: Files, statesSize = true) =>
  new MemorySource({ "config.json": data("config.json"), ...files }, { statesSize });
const bin = (name: string) => ({ "pytorch_model.bin": data(name) });
const safetensors = { "model.safetensors": data("model.safetensors") };
const read = (inner: ModelSource, weights: StoredFormat = "q8", from = 0) =>
  readWeights(sourceOf(inner, { weights }), from);

const several = [
  "pytorch_model.bin.index.json",
  "pytorch_model-00001-of-00002.bin",
  "pytorch_model-00002-of-00002.bin",
];
const folders: [string, Files][] = [
  ["zip", bin("zip.bin")],
  ["older", bin("older.bin")],
  ["interleaved", bin("interleaved.bin")],
  ["several files", Object.fromEntries(several.map((name) => [name, data(name)]))],
];

it.each(folders)(
  "an interrupted conversion of pytorch_model.bin (%s) resumes where it stopped",
  async (_, files) => {
    const whole = (await read(folder(files))).bytes;
    for (const from of [1, 2000, whole.length - 1])
      expect((await read(folder(files), "q8", from)).bytes.equals(whole.subarray(from))).toBe(true);
  },
);

it("pytorch_model.bin is not requested if model.safetensors exists", async () => {
  const inner = folder({ ...safetensors, ...bin("exploit.bin") });
  await read(inner);
  expect(inner.opened.filter(({ name }) => name.includes("bin"))).toEqual([]);
});

it("pytorch_model.bin is read in parts, and then once as a whole", async () => {
  const inner = folder(bin("zip.bin"));
  await read(inner);
  // The file is so small that its first part is all of it.
  expect(inner.placesOf("pytorch_model.bin")).toEqual([0, 0]);
});

it.each([
  ["exploit.bin", "unsupported", /^pytorch_model\.bin: this file would call posix\.system, /],
  ["config.json", "corrupt", /^pytorch_model\.bin is not a file of weights: it begins with the text/],
])("%s is refused as pytorch_model.bin: %s, %s", async (name, code, message) => {
  await expect(read(folder(bin(name)))).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message) as string,
  });
});

it("the zip form of pytorch_model.bin needs a host that states its size; the older form does not", async () => {
  await expect(read(folder(bin("zip.bin"), false))).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("does not state its size") as string,
  });
  await read(folder(bin("older.bin"), false));
});

it("a pytorch_model.bin that changes while it is read is an error that names it", async () => {
  const [before, after] = [folder(bin("zip.bin")), folder(bin("one-storage.bin"))];
  const open: ModelSource["open"] = (name, options) =>
    (before.placesOf("pytorch_model.bin").length > 0 ? after : before).open(name, options);
  await expect(read({ open })).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringMatching(
      /^pytorch_model\.bin: its file .* is not where the central directory says/,
    ) as string,
  });
});
