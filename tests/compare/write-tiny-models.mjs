// Writes tests/data/tiny-models of activations, scales of attention and GPT-BigCode, with their results in float64 in
// golden.json:
// node tests/compare/write-tiny-models.mjs
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { forward64, greedy64 } from "./forward64.mjs";
import { safetensorsFile, seededTensors } from "./seeded-model.mjs";

const folder = resolve(import.meta.dirname, "../data/tiny-models");
const small = { n_embd: 32, n_head: 2, n_layer: 1, n_positions: 16, vocab_size: 64 };
const bigCode = {
  ...small,
  model_type: "gpt_bigcode",
  n_layer: 2,
  activation_function: "gelu_pytorch_tanh",
  attention_softmax_in_fp32: true,
  scale_attention_softmax_in_fp32: true,
};
const models = {
  "relu-by-layer": {
    ...small,
    n_layer: 2,
    activation_function: "relu",
    scale_attn_by_inverse_layer_idx: true,
  },
  "silu-unscaled": { ...small, n_embd: 24, activation_function: "silu", scale_attn_weights: false },
  "quick-gelu": { ...small, n_embd: 36, n_head: 3, activation_function: "quick_gelu" },
  "bigcode-one-key-head": { ...bigCode, n_embd: 48, n_head: 3, n_inner: 80, multi_query: true },
  "bigcode-interleaved": { ...bigCode, multi_query: false, scale_attn_weights: false },
};

for (const [name, sizes] of Object.entries(models)) {
  const config = { model_type: "gpt2", layer_norm_epsilon: 1e-5, ...sizes };
  const tensors = seededTensors(config, 7);
  const ids = Array.from({ length: config.n_positions }, (_, i) => (i * i * 7 + 5) % config.vocab_size);
  const prompt = ids.slice(0, 4);
  const rounded = (rows) => rows.map((row) => row.map((value) => Number(value.toFixed(6))));
  const { logits, trace, attention } = forward64(config, tensors, ids);
  const golden = {
    ids,
    logits: rounded(logits),
    trace: Object.fromEntries(Object.entries(trace).map(([stage, rows]) => [stage, rounded(rows)])),
    attention: attention.map(rounded),
    greedy: { prompt, ids: greedy64(config, tensors, prompt, 12) },
  };
  const out = join(folder, name);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  writeFileSync(join(out, "model.safetensors"), safetensorsFile(tensors));
  writeFileSync(join(out, "golden.json"), `${JSON.stringify(golden)}\n`);
}
