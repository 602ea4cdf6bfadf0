// GGUF files as llama.cpp's converters write them (ggml, docs/gguf.md), with tensors of every type that is read.
import type { Tensor } from "./safetensors.js";

/** Float16 numbers by their place in a block. */
type Halves = Readonly<Record<number, number>>;

/**
 * ggml's number, values in a block, bytes of one. For a type with codes also the scales and least values of a block whose
 * values are about 1, whatever its codes.
 */
type Block = [id: number, values: number, bytes: number, halves?: Halves];

const blocks = {
  F32: [0, 1, 4],
  F16: [1, 1, 2],
  BF16: [30, 1, 2],
  Q8_0: [8, 32, 34, { 0: 1 / 127 }],
  Q4_0: [2, 32, 18, { 0: 1 / 8 }],
  Q4_1: [3, 32, 20, { 0: 1 / 7.5, 2: -1 }],
  Q5_0: [6, 32, 22, { 0: -1 / 16 }],
  Q5_1: [7, 32, 24, { 0: 1 / 15.5, 2: -1 }],
  Q2_K: [10, 256, 84, { 80: 1 / 15 / 2, 82: 1 / 15 }],
  Q3_K: [11, 256, 110, { 108: 1 / 32 / 4 }],
  Q4_K: [12, 256, 144, { 0: 1 / 32 / 15, 2: 1 / 64 }],
  Q5_K: [13, 256, 176, { 0: 1 / 32 / 31, 2: 1 / 64 }],
  Q6_K: [14, 256, 210, { 208: 1 / 128 / 32 }],
  IQ4_NL: [20, 32, 18, { 0: 1 / 127 }],
  IQ4_XS: [23, 256, 136, { 0: 1 / 32 / 127 }],
  TQ1_0: [34, 256, 54, { 52: 1 }],
  TQ2_0: [35, 256, 66, { 64: 1 }],
} satisfies Record<string, Block>;

export type BlockType = keyof typeof blocks;
export const blockTypes: Record<BlockType, Block> = blocks;

/** The bits of the nearest float16. */
function toHalf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size < 2 ** -14) return sign | Math.round(size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  const mantissa = Math.round((size / 2 ** exponent - 1) * 1024);
  return sign | (((exponent + 15) << 10) + mantissa);
}

/** Numbers that look random and are the same each time, from 0 to 1. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** A block of any codes whose values are about as large as `size`. */
function anyBlock(type: BlockType, size: number, next: () => number): Uint8Array {
  const [, , bytes, halves = {}] = blockTypes[type];
  const block = Uint8Array.from({ length: bytes }, () => Math.floor(next() * 256));
  const data = new DataView(block.buffer);
  for (const [at, value] of Object.entries(halves)) data.setUint16(Number(at), toHalf(size * value), true);
  return block;
}

export interface GgufTensor extends Tensor {
  /** The dimensions in ggml's order, inputs first. */
  dims: number[];
  type: BlockType;
}

function encodeFloats(type: BlockType, values: Float32Array): Buffer {
  const [, , size] = blockTypes[type];
  const bytes = Buffer.alloc(values.length * size);
  values.forEach((value, i) => {
    if (type === "F32") bytes.writeFloatLE(value, 4 * i);
    else if (type === "F16") bytes.writeUInt16LE(toHalf(value), 2 * i);
    else {
      const word = Buffer.alloc(4);
      word.writeFloatLE(value);
      word.copy(bytes, 2 * i, 2, 4);
    }
  });
  return bytes;
}

/** A tensor of `values`, or, of a type with codes, of any values of about their size. */
export function makeTensor(
  type: BlockType,
  dims: number[],
  values: Float32Array,
  next: () => number,
): GgufTensor {
  const [, perBlock] = blockTypes[type];
  const shape = [...dims].reverse();
  if (perBlock === 1) return { dtype: type, type, dims, shape, bytes: encodeFloats(type, values) };
  const size = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
  const blocks = Array.from({ length: values.length / perBlock }, () => anyBlock(type, 1.7 * size, next));
  return { dtype: type, type, dims, shape, bytes: Buffer.concat(blocks) };
}

type Value =
  | { u32: number }
  | { f32: number }
  | { flag: boolean }
  | { text: string }
  | { texts: readonly string[] }
  | { i32s: readonly number[] };
export type Metadata = Record<string, Value>;

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

function valueBytes(value: Value): Buffer {
  if ("u32" in value) return Buffer.concat([u32(4), u32(value.u32)]);
  if ("f32" in value) {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value.f32);
    return Buffer.concat([u32(6), bytes]);
  }
  if ("flag" in value) return Buffer.concat([u32(7), Buffer.from([Number(value.flag)])]);
  if ("text" in value) return Buffer.concat([u32(8), text(value.text)]);
  const list = "texts" in value ? value.texts.map(text) : value.i32s.map((number) => u32(number >>> 0));
  return Buffer.concat([u32(9), u32("texts" in value ? 8 : 5), u64(list.length), ...list]);
}

const alignment = 32;
const padding = (size: number) => Buffer.alloc((alignment - (size % alignment)) % alignment);

export function writeGguf(metadata: Metadata, tensors: ReadonlyMap<string, GgufTensor>, version = 3): Buffer {
  const pairs = Object.entries(metadata).flatMap(([key, value]) => [text(key), valueBytes(value)]);
  let offset = 0;
  const list = [...tensors].flatMap(([name, { dims, type, bytes }]) => {
    const at = offset;
    offset += bytes.length + padding(bytes.length).length;
    return [text(name), u32(dims.length), ...dims.map(u64), u32(blockTypes[type][0]), u64(at)];
  });
  const counts = [u64(tensors.size), u64(Object.keys(metadata).length)];
  const header = Buffer.concat([Buffer.from("GGUF"), u32(version), ...counts, ...pairs, ...list]);
  const data = [...tensors.values()].flatMap(({ bytes }) => [bytes, padding(bytes.length)]);
  return Buffer.concat([header, padding(header.length), ...data]);
}

/** llama.cpp's name of a tensor of the hub: gguf-py/gguf/tensor_mapping.py. */
export function ggufName(name: string): string {
  const [, layer, part, end] = /^h\.(\d+)\.([\w.]+)\.(weight|bias)$/.exec(name) ?? [];
  const inBlock: Record<string, string> = {
    ln_1: "attn_norm",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    ln_2: "ffn_norm",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
  };
  if (layer !== undefined) return `blk.${layer}.${inBlock[part ?? ""] ?? ""}.${end ?? ""}`;
  return name
    .replace("wte", "token_embd")
    .replace("wpe", "position_embd")
    .replace("ln_f", "output_norm")
    .replace("lm_head", "output");
}

export interface Vocabulary {
  /** vocab.json, parsed. */
  vocab: Readonly<Record<string, number>>;
  /** The lines of merges.txt, without the first. */
  merges: readonly string[];
}

/** What convert_hf_to_gguf.py writes of a config.json and a tokenizer; ids that no token has are padding. */
export function ggufMetadata(config: Readonly<Record<string, unknown>>, vocabulary?: Vocabulary): Metadata {
  const size = (key: string) => ({ u32: Number(config[key]) });
  const metadata: Metadata = {
    "general.architecture": { text: "gpt2" },
    "general.name": { text: "a test's" },
    "gpt2.block_count": size("n_layer"),
    "gpt2.context_length": size("n_positions"),
    "gpt2.embedding_length": size("n_embd"),
    "gpt2.feed_forward_length": { u32: Number(config.n_inner ?? 4 * Number(config.n_embd)) },
    "gpt2.attention.head_count": size("n_head"),
    "gpt2.attention.layer_norm_epsilon": { f32: Number(config.layer_norm_epsilon ?? 1e-5) },
    "general.file_type": { u32: 0 },
  };
  if (!vocabulary) return metadata;
  const normal = 1;
  const control = 3;
  const unused = 5;
  const tokens = Array.from({ length: Number(config.vocab_size) }, (_, id) => `[PAD${id}]`);
  const types = tokens.map(() => unused);
  for (const [token, id] of Object.entries(vocabulary.vocab)) {
    tokens[id] = token;
    types[id] = token === "<|endoftext|>" ? control : normal;
  }
  const end = vocabulary.vocab["<|endoftext|>"];
  return {
    ...metadata,
    "tokenizer.ggml.model": { text: "gpt2" },
    "tokenizer.ggml.pre": { text: "gpt-2" },
    "tokenizer.ggml.tokens": { texts: tokens },
    "tokenizer.ggml.token_type": { i32s: types },
    "tokenizer.ggml.merges": { texts: vocabulary.merges },
    ...(end === undefined
      ? {}
      : { "tokenizer.ggml.bos_token_id": { u32: end }, "tokenizer.ggml.eos_token_id": { u32: end } }),
  };
}

/** The tensors of a hub's file (float32) under llama.cpp's names, matrices as `type`, [out, in]. */
export function ggufTensors(
  tensors: ReadonlyMap<string, Tensor>,
  typeOf: (name: string, inputs: number) => BlockType,
): Map<string, GgufTensor> {
  const next = randomFrom(7);
  const made = new Map<string, GgufTensor>();
  for (const [hubName, { shape, bytes }] of tensors) {
    const name = hubName.replace(/^transformer\./, "");
    if (/\.attn\.(masked_)?bias$/.test(name)) continue;
    let values = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    const [rows = 1, columns = 1] = shape;
    let dims = shape.length === 1 ? [rows] : [columns, rows];
    if (/\.c_\w+\.weight$/.test(name)) {
      dims = [rows, columns];
      const stored = values;
      values = new Float32Array(values.length);
      for (let i = 0; i < rows; ++i) {
        for (let o = 0; o < columns; ++o) values[o * rows + i] = stored[i * columns + o] ?? 0;
      }
    }
    const ggml = ggufName(name);
    const type = dims.length === 1 || name === "wpe.weight" ? "F32" : typeOf(ggml, dims[0] ?? 1);
    made.set(ggml, makeTensor(type, dims, values, next));
  }
  return made;
}
