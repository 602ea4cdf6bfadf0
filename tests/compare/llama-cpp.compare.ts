// Part of `npm run compare:hub`: GGUF files of each type of block, and mixtures as llama.cpp's quantizer writes them, compared
// with llama.cpp. It installs node-llama-cpp into build/peers.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { askLlama } from "../bench/peers/llama.mjs";
import { json, scratch } from "../weights_tools/tool.js";
import { blockTypes, ggufMetadata, ggufTensors, writeGguf, type BlockType } from "../web/support/gguf.js";
import { seededTensors } from "./seeded-model.mjs";

const config = {
  model_type: "gpt2",
  n_embd: 256, // the values of the largest block
  n_head: 4,
  n_layer: 2,
  n_positions: 64,
  vocab_size: 300,
  layer_norm_epsilon: 1e-5,
};
const ids = Array.from({ length: 24 }, (_, i) => (i * i * 3 + 7) % config.vocab_size);
/**
 * How large the differences may be, as a share of the logits (root of the mean square of each). llama.cpp rounds keys and
 * values to float16 and, before it multiplies with codes, the other factor to 8 bits. A wrong scale or code gives 0.5 and more.
 */
const tolerance = 0.05;
const toleranceOfFloats = 0.005;

/** The type of each matrix by its name, for each file. */
const files: Record<string, (name: string) => BlockType> = Object.fromEntries(
  Object.keys(blockTypes).map((type) => [type, () => type as BlockType]),
);
files["a mixture as Q4_K_M"] = (name) =>
  name === "token_embd.weight" || name.includes("attn_qkv") ? "Q6_K" : "Q4_K";
files["a mixture as Q3_K_L"] = (name) => (name.includes("ffn_down") ? "Q5_K" : "Q3_K");
files["a mixture with floats"] = (name) => (name.includes("ffn") ? "Q5_1" : "F16");

const tensors = new Map(
  [...seededTensors(config, 5)].map(([name, { shape, values }]) => {
    const bytes = Buffer.from(Float32Array.from(values).buffer);
    return [name, { dtype: "F32", shape, bytes }];
  }),
);
/** llama.cpp refuses a file without a tokenizer. */
const vocab = Object.fromEntries(Array.from({ length: config.vocab_size }, (_, id) => [`t${id}`, id]));
const pathOf = (name: string) => join(scratch, `${name.replaceAll(" ", "-")}.gguf`);

const size = (values: readonly number[]) => Math.hypot(...values) / Math.sqrt(values.length);

let theirs: number[][][] = [];

beforeAll(() => {
  for (const [name, typeOf] of Object.entries(files)) {
    const metadata = ggufMetadata(config, { vocab, merges: [] });
    writeFileSync(pathOf(name), writeGguf(metadata, ggufTensors(tensors, typeOf)));
  }
  theirs = askLlama({ logits: Object.keys(files).map(pathOf), ids }) as number[][][];
}, 300_000);

describe.each(Object.keys(files).map((name, at) => ({ name, at })))("$name", ({ name, at }) => {
  it(`a GGUF file of ${name} has the logits of llama.cpp`, () => {
    const ours = json(["trace", pathOf(name), "--ids", ids.join(), "--weights", "f32", "--json"]) as {
      logits: number[][];
    };
    expect(ours.logits).toHaveLength(ids.length);
    const expected = theirs[at]?.flat() ?? [];
    const values = ours.logits.flat();
    expect(expected).toHaveLength(values.length);
    const share = size(values.map((value, i) => value - (expected[i] ?? NaN))) / size(expected);
    expect(share).toBeLessThan(/^B?F\d+$/.test(name) ? toleranceOfFloats : tolerance);
  });
});
