// GGUF files as llama.cpp's converters write them (ggml, docs/gguf.md), for tests. They have metadata, tensors of every
// type that is read, and the values of these tensors.
import type { Tensor } from "./safetensors.js";

export type BlockType =
  | "F32"
  | "F16"
  | "BF16"
  | "Q8_0"
  | "Q4_0"
  | "Q4_1"
  | "Q5_0"
  | "Q5_1"
  | "Q2_K"
  | "Q3_K"
  | "Q4_K"
  | "Q5_K"
  | "Q6_K"
  | "IQ4_NL"
  | "IQ4_XS"
  | "TQ1_0"
  | "TQ2_0";

/** ggml's number, values in a block, bytes of one. */
export const blockTypes: Record<BlockType, [id: number, values: number, bytes: number]> = {
  F32: [0, 1, 4],
  F16: [1, 1, 2],
  BF16: [30, 1, 2],
  Q8_0: [8, 32, 34],
  Q4_0: [2, 32, 18],
  Q4_1: [3, 32, 20],
  Q5_0: [6, 32, 22],
  Q5_1: [7, 32, 24],
  Q2_K: [10, 256, 84],
  Q3_K: [11, 256, 110],
  Q4_K: [12, 256, 144],
  Q5_K: [13, 256, 176],
  Q6_K: [14, 256, 210],
  IQ4_NL: [20, 32, 18],
  IQ4_XS: [23, 256, 136],
  TQ1_0: [34, 256, 54],
  TQ2_0: [35, 256, 66],
};

/** ggml-common.h, "kvalues_iq4nl". */
const uneven = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** The bits of the nearest float16. */
export function toHalf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size < 2 ** -14) return sign | Math.round(size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  const mantissa = Math.round((size / 2 ** exponent - 1) * 1024);
  return sign | (((exponent + 15) << 10) + mantissa);
}

export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1023;
  return sign * (exponent === 0 ? mantissa * 2 ** -24 : (1 + mantissa / 1024) * 2 ** (exponent - 15));
}

/** The scale and the least value of 6 bits of one run of a K block, as ggml's get_scale_min_k4 reads them. */
function scaleAndLeast(packed: Uint8Array, run: number): [number, number] {
  const at = (i: number) => packed[i] ?? 0;
  if (run < 4) return [at(run) & 63, at(run + 4) & 63];
  return [(at(run + 4) & 15) | ((at(run - 4) >> 6) << 4), (at(run + 4) >> 4) | ((at(run) >> 6) << 4)];
}

const float = Math.fround;

/**
 * The values of one block, in the order of ggml's own loops (dequantize_row_* of ggml-quants.c). So this is a second
 * reading of the format, independent of engine/convert/block_types.cc.
 */
export function widenBlock(type: BlockType, block: Uint8Array): number[] {
  const data = view(block);
  const half = (at: number) => fromHalf(data.getUint16(at, true));
  const at = (i: number) => block[i] ?? 0;
  const values: number[] = [];
  switch (type) {
    case "F32":
      return [data.getFloat32(0, true)];
    case "F16":
      return [half(0)];
    case "BF16": {
      const wide = new DataView(new ArrayBuffer(4));
      wide.setUint16(2, data.getUint16(0, true), true);
      return [wide.getFloat32(0, true)];
    }
    case "Q8_0":
      for (let i = 0; i < 32; ++i) values.push(float(half(0) * data.getInt8(2 + i)));
      return values;
    case "Q4_0":
      for (let i = 0; i < 16; ++i) {
        values[i] = float(((at(2 + i) & 15) - 8) * half(0));
        values[i + 16] = float(((at(2 + i) >> 4) - 8) * half(0));
      }
      return values;
    case "Q4_1":
      for (let i = 0; i < 16; ++i) {
        values[i] = float(float((at(4 + i) & 15) * half(0)) + half(2));
        values[i + 16] = float(float((at(4 + i) >> 4) * half(0)) + half(2));
      }
      return values;
    case "Q5_0":
    case "Q5_1": {
      const start = type === "Q5_0" ? 2 : 4;
      const high = data.getUint32(start, true);
      for (let i = 0; i < 16; ++i) {
        const first = (at(start + 4 + i) & 15) | (((high >>> i) << 4) & 16);
        const second = (at(start + 4 + i) >> 4) | ((high >>> (i + 12)) & 16);
        for (const [j, code] of [
          [i, first],
          [i + 16, second],
        ] as const) {
          values[j] = type === "Q5_0" ? float((code - 16) * half(0)) : float(float(code * half(0)) + half(2));
        }
      }
      return values;
    }
    case "Q2_K": {
      let scales = 0;
      for (let codes = 16; codes < 80; codes += 32) {
        for (let shift = 0; shift < 8; shift += 2) {
          for (const first of [codes, codes + 16]) {
            const both = at(scales++);
            const [d, m] = [float(half(80) * (both & 15)), float(half(82) * (both >> 4))];
            for (let i = 0; i < 16; ++i) values.push(float(float(d * ((at(first + i) >> shift) & 3)) - m));
          }
        }
      }
      return values;
    }
    case "Q3_K": {
      // Unpacks them like ggml: four words of bytes, whose low bits come from the first two.
      const word = (i: number) => data.getUint32(96 + 4 * i, true);
      const high = word(2);
      const words = [0, 1, 2, 3].map((i) => {
        const low = i < 2 ? word(i) : word(i - 2) >>> 4;
        return ((low & 0x0f0f0f0f) | (((high >>> (2 * i)) & 0x03030303) << 4)) >>> 0;
      });
      let run = 0;
      let mask = 1;
      for (let codes = 32; codes < 96; codes += 32) {
        for (let shift = 0; shift < 8; shift += 2, mask <<= 1) {
          for (const first of [0, 16]) {
            const scale = ((words[run >> 2] ?? 0) >>> (8 * (run & 3))) & 255;
            const d = float(half(108) * (scale - 32));
            for (let i = first; i < first + 16; ++i) {
              values.push(float(d * (((at(codes + i) >> shift) & 3) - (at(i) & mask ? 0 : 4))));
            }
            ++run;
          }
        }
      }
      return values;
    }
    case "IQ4_NL":
    case "IQ4_XS":
      for (let run = 0; run < (type === "IQ4_NL" ? 1 : 8); ++run) {
        const low = at(4 + (run >> 1)) >> (4 * (run & 1));
        const scale = (low & 15) | (((data.getUint16(2, true) >> (2 * run)) & 3) << 4);
        const d = type === "IQ4_NL" ? half(0) : float(half(0) * (scale - 32));
        const codes = type === "IQ4_NL" ? 2 : 8 + 16 * run;
        for (let i = 0; i < 16; ++i) {
          values[32 * run + i] = float(d * (uneven[at(codes + i) & 15] ?? 0));
          values[32 * run + i + 16] = float(d * (uneven[at(codes + i) >> 4] ?? 0));
        }
      }
      return values;
    case "TQ1_0": {
      const powers = [1, 3, 9, 27, 81];
      const digit = (i: number, power: number) => (((at(i) * power) % 256) * 3) >> 8;
      for (const power of powers) {
        for (let i = 0; i < 32; ++i) values.push(float((digit(i, power) - 1) * half(52)));
      }
      for (const power of powers) {
        for (let i = 32; i < 48; ++i) values.push(float((digit(i, power) - 1) * half(52)));
      }
      for (const power of powers.slice(0, 4)) {
        for (let i = 48; i < 52; ++i) values.push(float((digit(i, power) - 1) * half(52)));
      }
      return values;
    }
    case "TQ2_0":
      for (let start = 0; start < 64; start += 32) {
        for (let shift = 0; shift < 8; shift += 2) {
          for (let i = start; i < start + 32; ++i) {
            values.push(float((((at(i) >> shift) & 3) - 1) * half(64)));
          }
        }
      }
      return values;
    case "Q4_K":
    case "Q5_K": {
      const packed = block.subarray(4, 16);
      const high = type === "Q5_K" ? block.subarray(16, 48) : new Uint8Array(32);
      let codes = type === "Q5_K" ? 48 : 16;
      for (let run = 0; run < 8; run += 2, codes += 32) {
        for (const [k, shift] of [
          [run, 0],
          [run + 1, 4],
        ] as const) {
          const [scale, least] = scaleAndLeast(packed, k);
          const [d, m] = [float(half(0) * scale), float(half(2) * least)];
          for (let i = 0; i < 32; ++i) {
            const code = ((at(codes + i) >> shift) & 15) + ((high[i] ?? 0) & (1 << k) ? 16 : 0);
            values.push(float(float(d * code) - m));
          }
        }
      }
      return values;
    }
    case "Q6_K": {
      for (let n = 0; n < 2; ++n) {
        const [low, high, scales] = [64 * n, 128 + 32 * n, 192 + 8 * n];
        for (let i = 0; i < 32; ++i) {
          const bits = at(high + i);
          const codes = [
            (at(low + i) & 15) | ((bits & 3) << 4),
            (at(low + i + 32) & 15) | (((bits >> 2) & 3) << 4),
            (at(low + i) >> 4) | (((bits >> 4) & 3) << 4),
            (at(low + i + 32) >> 4) | (((bits >> 6) & 3) << 4),
          ];
          codes.forEach((code, part) => {
            const scale = data.getInt8(scales + 2 * part + Math.floor(i / 16));
            values[128 * n + 32 * part + i] = float(float(half(208) * scale) * (code - 32));
          });
        }
      }
      return values;
    }
  }
}

/** Numbers that look random and are the same each time, from 0 to 1. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** A block of any codes whose values are about as large as `size`. */
function anyBlock(type: BlockType, size: number, next: () => number): Uint8Array {
  const [, , bytes] = blockTypes[type];
  const block = Uint8Array.from({ length: bytes }, () => Math.floor(next() * 256));
  const data = view(block);
  const setHalf = (at: number, value: number) => data.setUint16(at, toHalf(value), true);
  switch (type) {
    case "Q8_0":
      setHalf(0, size / 127);
      break;
    case "Q4_0":
      setHalf(0, size / 8);
      break;
    case "Q5_0":
      setHalf(0, -size / 16);
      break;
    case "Q4_1":
    case "Q5_1":
      setHalf(0, size / (type === "Q4_1" ? 7.5 : 15.5));
      setHalf(2, -size);
      break;
    case "Q4_K":
    case "Q5_K":
      setHalf(0, size / 32 / (type === "Q4_K" ? 15 : 31));
      setHalf(2, size / 64);
      break;
    case "Q6_K":
      setHalf(208, size / 128 / 32);
      break;
    case "Q2_K":
      setHalf(80, size / 15 / 2);
      setHalf(82, size / 15);
      break;
    case "Q3_K":
      setHalf(108, size / 32 / 4);
      break;
    case "IQ4_NL":
      setHalf(0, size / 127);
      break;
    case "IQ4_XS":
      setHalf(0, size / 32 / 127);
      break;
    case "TQ1_0":
      setHalf(52, size);
      break;
    case "TQ2_0":
      setHalf(64, size);
      break;
    default:
      throw new Error(`${type} has no codes`);
  }
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

/** The float values of the tensor. */
export function valuesOf({ type, bytes }: GgufTensor): Float32Array {
  const [, values, size] = blockTypes[type];
  const all = new Float32Array((bytes.length / size) * values);
  for (let i = 0; i < bytes.length / size; ++i) {
    all.set(widenBlock(type, bytes.subarray(i * size, (i + 1) * size)), i * values);
  }
  return all;
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
