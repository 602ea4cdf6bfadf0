// Folders of random weights in the shape of GPT-2 124M: speed does not depend on the values.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
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

/**
 * Makes `build/bench/models/<name>` unless it is there; needs the built gpt2-weights. With "--echo" among
 * `options` the model repeats itself.
 */
export function makeModel(format, name = `gpt2-${format}`, options = []) {
  const folder = join(modelsFolder, name);
  if (existsSync(join(folder, "weights.json"))) return folder;
  mkdirSync(modelsFolder, { recursive: true });
  const file = join(modelsFolder, "config.json");
  writeFileSync(file, JSON.stringify(gpt2Config));
  execFileSync(tool, ["random", file, folder, "--weights", format, "--seed", "1", "--force", ...options], {
    stdio: ["ignore", 2, 2],
  });
  return folder;
}
