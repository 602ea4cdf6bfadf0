// How the kinds of models in the first table of docs/reference/models.md differ from GPT-2. Each has the name of its row there.
import type { Config, FloatTensor } from "./forward64.mjs";

type Tensors = Map<string, FloatTensor>;
export interface Kind {
  /** What config.json has in addition. */
  config?: Config;
  /** The warning about a model that works. */
  warning?: string;
  /** Adds tensors to the file. */
  more?: Record<string, FloatTensor>;
  /** Changes the tensors of the file. */
  change?: (tensors: Tensors) => void;
}

export const sizes = { n_embd: 32, n_head: 2, n_layer: 2, n_positions: 32, vocab_size: 60 };

/** The fields in which the config of a GPT-BigCode differs. */
const bigCode = {
  model_type: "gpt_bigcode",
  activation_function: "gelu_pytorch_tanh",
  attention_softmax_in_fp32: true,
  scale_attention_softmax_in_fp32: true,
};

const tensor = (...shape: number[]): FloatTensor => {
  const values = Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => Math.sin(i) / 3);
  return { shape, values };
};
const storeHead = (tensors: Tensors) =>
  tensors.set("lm_head.weight", tensors.get("wte.weight") ?? tensor(sizes.vocab_size, sizes.n_embd));
const activated = (name: string): Kind => ({ config: { activation_function: name } });

export const kinds: Record<string, Kind> = {
  "openai-community/gpt2": {},
  "a fine-tune": {
    more: { "h.0.attn.bias": tensor(1, 1, 32, 32), "h.0.attn.masked_bias": tensor(1) },
    change: (tensors) => {
      const all = [...tensors];
      tensors.clear();
      for (const [name, value] of all) tensors.set(`transformer.${name}`, value);
    },
  },
  "codeparrot, Stanford CRFM": {
    config: { scale_attn_by_inverse_layer_idx: true, reorder_and_upcast_attn: true },
  },
  "GPT-2 without scaled attention": { config: { scale_attn_weights: false } },
  "GPT-2 with gelu_fast": activated("gelu_fast"),
  "GPT-2 with gelu": activated("gelu"),
  "GPT-2 with relu": activated("relu"),
  "GPT-2 with silu": activated("silu"),
  "GPT-2 with quick_gelu": activated("quick_gelu"),
  "GPT-2 with an unsupported activation": activated("mish"),
  "GPT-2 with the generic names of its sizes": {
    config: {
      hidden_size: sizes.n_embd,
      num_hidden_layers: sizes.n_layer,
      num_attention_heads: sizes.n_head,
      max_position_embeddings: sizes.n_positions,
    },
  },
  GPT2ForSequenceClassification: {
    config: { architectures: ["GPT2ForSequenceClassification"] },
    more: { "score.weight": tensor(2, 32) },
    warning: '"score.*"',
  },
  "TRL's value head": {
    more: { "v_head.summary.weight": tensor(1, 32), "v_head.summary.bias": tensor(1) },
    warning: '"v_head.*"',
  },
  GPT2DoubleHeadsModel: {
    more: { "multiple_choice_head.summary.weight": tensor(1, 32) },
    warning: '"multiple_choice_head.*"',
  },
  "GPT-2 that stores its tied head, too": { change: storeHead },
  "GPT-2 that stores another head than the tied one": {
    config: { tie_word_embeddings: true },
    more: { "lm_head.weight": tensor(60, 32) },
    warning: "lm_head.weight differs from wte.weight",
  },
  "GPT-2 saved by safetensors.torch": {
    change: (tensors) => {
      storeHead(tensors);
      tensors.delete("wte.weight");
    },
  },
  "the decoder of an encoder-decoder model": { config: { add_cross_attention: true } },
  "GPT-2 with tensors of cross-attention": {
    more: { "h.0.crossattention.c_attn.weight": tensor(32, 64) },
  },
  "a model with its own Python code": { config: { auto_map: { AutoModelForCausalLM: "modeling.Model" } } },
  "GPT-2 with rotary positions": { config: { rotary_dim: 16 } },
  "GPT-2 with pruned heads": { config: { pruned_heads: { 0: [1] } } },
  "bigcode/tiny_starcoder_py": {
    config: {
      ...{ ...bigCode, multi_query: true, n_inner: 80 },
      ...{ inference_runner: 0, validate_runner_input: true, pad_key_length: true },
    },
  },
  "GPT-BigCode with a key for each head": {
    config: { ...bigCode, multi_query: false, num_key_value_heads: sizes.n_head, scale_attn_weights: false },
  },
  "GPT-BigCode with groups of heads": { config: { ...bigCode, n_head: 4, num_key_value_heads: 2 } },
  "GPT-BigCode with scales by layer": { config: { ...bigCode, scale_attn_by_inverse_layer_idx: true } },
  "GPT-2 with one key for all heads": { config: { multi_query: true } },
  "GPT-2 with unknown keys": { config: { dataset: "tales" }, warning: '"dataset": "tales"' },
};
