// Folders of random weights in the shapes of GPT-2: speed does not depend on the values.
import { execFileSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { root } from "../../engine/toolchain/build.mjs";

export const modelsFolder = join(root, "build/bench/models");
const tool = join(root, "build/native/weights_tools/gpt2-weights");

export const gpt2Config = {
  model_type: "gpt2",
  activation_function: "gelu_new",
  n_layer: 12,
  n_head: 12,
  n_embd: 768,
  n_positions: 1024,
  vocab_size: 50257,
  layer_norm_epsilon: 1e-5,
  eos_token_id: 50256,
};

/** The published sizes, each with its shape. */
export const gpt2Sizes = {
  "124M": gpt2Config,
  "355M": { ...gpt2Config, n_layer: 24, n_head: 16, n_embd: 1024 },
  "774M": { ...gpt2Config, n_layer: 36, n_head: 20, n_embd: 1280 },
  "1.5B": { ...gpt2Config, n_layer: 48, n_head: 25, n_embd: 1600 },
};

/**
 * Makes `build/bench/models/<name>` unless it exists; needs the built gpt2-weights. With "--echo" among
 * `options` the model repeats itself.
 */
export function makeModel(format, name = `gpt2-${format}`, options = [], config = gpt2Config) {
  const folder = join(modelsFolder, name);
  if (existsSync(join(folder, "weights.json"))) return folder;
  mkdirSync(modelsFolder, { recursive: true });
  const file = join(modelsFolder, "config.json");
  writeFileSync(file, JSON.stringify(config));
  execFileSync(tool, ["random", file, folder, "--weights", format, "--seed", "1", "--force", ...options], {
    stdio: ["ignore", 2, 2],
  });
  return folder;
}

/**
 * The tensors of the Hub's GPT-2 124M in its order, including the mask buffers.
 * @returns {{ name: string, shape: number[] }[]}
 */
export function hubTensors() {
  const d = gpt2Config.n_embd;
  const layers = Array.from({ length: gpt2Config.n_layer }, (_, i) => i)
    .map(String)
    .sort();
  const norm = (name) => [
    { name: `${name}.bias`, shape: [d] },
    { name: `${name}.weight`, shape: [d] },
  ];
  const linear = (name, from, to) => [
    { name: `${name}.bias`, shape: [to] },
    { name: `${name}.weight`, shape: [from, to] },
  ];
  return [
    ...layers.flatMap((layer) =>
      [
        { name: "attn.bias", shape: [1, 1, gpt2Config.n_positions, gpt2Config.n_positions] },
        ...linear("attn.c_attn", d, 3 * d),
        ...linear("attn.c_proj", d, d),
        ...norm("ln_1"),
        ...norm("ln_2"),
        ...linear("mlp.c_fc", d, 4 * d),
        ...linear("mlp.c_proj", 4 * d, d),
      ].map(({ name, shape }) => ({ name: `h.${layer}.${name}`, shape })),
    ),
    ...norm("ln_f"),
    { name: "wpe.weight", shape: [gpt2Config.n_positions, d] },
    { name: "wte.weight", shape: [gpt2Config.vocab_size, d] },
  ];
}

/** Makes `build/bench/models/gpt2-hub` unless it exists: 548 MB of random float32 in the form of the Hub's GPT-2 124M. */
export function makeHubModel() {
  const folder = join(modelsFolder, "gpt2-hub");
  const file = join(folder, "model.safetensors");
  if (existsSync(file)) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(gpt2Config));
  const tokenizer = join(root, "tests/data/gpt2-tokenizer");
  for (const name of ["vocab.json", "merges.txt"]) copyFileSync(join(tokenizer, name), join(folder, name));
  const header = {};
  let bytes = 0;
  for (const { name, shape } of hubTensors()) {
    const size = 4 * shape.reduce((product, each) => product * each, 1);
    header[name] = { dtype: "F32", shape, data_offsets: [bytes, (bytes += size)] };
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  // A million values are repeated. They are about as large as GPT-2's.
  const values = Buffer.from(
    Float32Array.from({ length: 1 << 20 }, () => (Math.random() - 0.5) * 0.07).buffer,
  );
  const out = openSync(`${file}.part`, "w");
  for (const part of [length, json]) writeSync(out, part);
  for (; bytes > 0; bytes -= values.length) writeSync(out, values, 0, Math.min(bytes, values.length));
  closeSync(out);
  renameSync(`${file}.part`, file);
  return folder;
}
