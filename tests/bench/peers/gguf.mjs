// A GGUF file of random GPT-2 weights, as llama.cpp reads it:
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../engine/toolchain/build.mjs";

const valueType = { uint32: 4, float32: 6, string: 8, array: 9, int32: 5 };
const alignment = 32;

/** Tensor types: the number in the file, values in a block, and how a block of random weights is made. */
const tensorTypes = {
  F32: { id: 0, block: 1, bytes: 4, fill: (out, at) => out.writeFloatLE(0.02 * (Math.random() - 0.5), at) },
  Q4_0: { id: 2, block: 32, bytes: 18, fill: fillCodes },
  Q8_0: { id: 8, block: 32, bytes: 34, fill: fillCodes },
};

/** Half-precision 2^-12 as the scale, and any codes. */
function fillCodes(out, at, bytes) {
  out.writeUInt16LE(0x0c00, at);
  for (let i = 2; i < bytes; ++i) out[at + i] = Math.random() * 256;
}

class Writer {
  parts = [];
  u32(value) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    this.parts.push(bytes);
  }
  u64(value) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    this.parts.push(bytes);
  }
  f32(value) {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value);
    this.parts.push(bytes);
  }
  string(text) {
    const bytes = Buffer.from(text);
    this.u64(bytes.length);
    this.parts.push(bytes);
  }
  value(type, value) {
    if (type === "string") this.string(value);
    else if (type === "float32") this.f32(value);
    else this.u32(value);
  }
  pair(key, type, value) {
    this.string(key);
    if (Array.isArray(value)) {
      this.u32(valueType.array);
      this.u32(valueType[type]);
      this.u64(value.length);
      for (const element of value) this.value(type, element);
    } else {
      this.u32(valueType[type]);
      this.value(type, value);
    }
  }
  bytes() {
    return Buffer.concat(this.parts);
  }
}

function tensorsOf(config, type) {
  const { n_embd: d, vocab_size: vocab, n_positions: positions } = config;
  const tensors = [
    ["token_embd.weight", [d, vocab], type],
    ["position_embd.weight", [d, positions], "F32"],
    ["output_norm.weight", [d], "F32"],
    ["output_norm.bias", [d], "F32"],
  ];
  for (let layer = 0; layer < config.n_layer; ++layer) {
    const linear = (name, out, inputs) =>
      tensors.push(
        [`blk.${layer}.${name}.weight`, [inputs, out], type],
        [`blk.${layer}.${name}.bias`, [out], "F32"],
      );
    for (const name of ["attn_norm", "ffn_norm"])
      for (const part of ["weight", "bias"]) tensors.push([`blk.${layer}.${name}.${part}`, [d], "F32"]);
    linear("attn_qkv", 3 * d, d);
    linear("attn_output", d, d);
    linear("ffn_up", 4 * d, d);
    linear("ffn_down", d, 4 * d);
  }
  return tensors;
}

/** Writes `path` in the shape of `config` with weights of `type`, "Q8_0" or "Q4_0". */
export function writeGguf(path, config, type) {
  const data = join(root, "tests/data/gpt2-tokenizer");
  const vocab = JSON.parse(readFileSync(join(data, "vocab.json"), "utf8"));
  // Random weights write random tokens: only whole ASCII ones, as wllama dies of a cut-off character.
  const tokens = Object.entries(vocab)
    .sort((a, b) => a[1] - b[1])
    .map(([token, id]) => (/^[\x21-\x7eĠĊ]+$/.test(token) ? token : `x${id}`));
  const merges = readFileSync(join(data, "merges.txt"), "utf8")
    .split("\n")
    .filter((line) => line && !line.startsWith("#version"));
  const pairs = [
    ["general.architecture", "string", "gpt2"],
    ["general.name", "string", "random"],
    ["gpt2.context_length", "uint32", config.n_positions],
    ["gpt2.embedding_length", "uint32", config.n_embd],
    ["gpt2.feed_forward_length", "uint32", 4 * config.n_embd],
    ["gpt2.block_count", "uint32", config.n_layer],
    ["gpt2.attention.head_count", "uint32", config.n_head],
    ["gpt2.attention.layer_norm_epsilon", "float32", config.layer_norm_epsilon],
    ["tokenizer.ggml.model", "string", "gpt2"],
    ["tokenizer.ggml.pre", "string", "gpt-2"],
    ["tokenizer.ggml.tokens", "string", tokens],
    ["tokenizer.ggml.token_type", "int32", tokens.map(() => 1)],
    ["tokenizer.ggml.merges", "string", merges],
    ["tokenizer.ggml.bos_token_id", "uint32", config.eos_token_id],
    ["tokenizer.ggml.eos_token_id", "uint32", config.eos_token_id],
  ];
  const tensors = tensorsOf(config, type);
  const writer = new Writer();
  writer.parts.push(Buffer.from("GGUF"));
  writer.u32(3);
  writer.u64(tensors.length);
  writer.u64(pairs.length);
  for (const pair of pairs) writer.pair(...pair);
  const roundUp = (size) => Math.ceil(size / alignment) * alignment;
  /** @param {any[]} tensor Its name, shape and type. */
  const sizeOf = ([, shape, kind]) =>
    (shape.reduce((product, n) => product * n, 1) / tensorTypes[kind].block) * tensorTypes[kind].bytes;
  let offset = 0;
  for (const tensor of tensors) {
    const [name, shape, kind] = tensor;
    writer.string(name);
    writer.u32(shape.length);
    for (const n of shape) writer.u64(n);
    writer.u32(tensorTypes[kind].id);
    writer.u64(offset);
    offset += roundUp(sizeOf(tensor));
  }
  const header = writer.bytes();
  const file = openSync(path, "w");
  writeSync(file, Buffer.concat([header, Buffer.alloc(roundUp(header.length) - header.length)]));
  for (const tensor of tensors) {
    const { bytes, fill } = tensorTypes[tensor[2]];
    const size = sizeOf(tensor);
    const out = Buffer.alloc(roundUp(size));
    for (let at = 0; at < size; at += bytes) fill(out, at, bytes);
    writeSync(file, out);
  }
  closeSync(file);
}
