// A small model of each kind that is published as GPT-2, and the result to expect. docs/ has the same rows as a table.
import { forward64, type Config, type FloatTensor } from "./forward64.mjs";
import { seededTensors } from "./seeded-model.mjs";

export interface Row {
  model: string;
  /** How the model differs from GPT-2. */
  special: string;
  config: Config;
  tensors: Map<string, FloatTensor>;
  /** Tensors for the float64 forward pass, if the file has other names for them. */
  reference?: Map<string, FloatTensor>;
  /** Why the model is refused; undefined if it works. */
  refusal?: string;
  /** The warning about a model that works. */
  warning?: string;
}

const sizes = { n_embd: 32, n_head: 2, n_layer: 2, n_positions: 32, vocab_size: 60 };

/** The fields in which the config of a GPT-BigCode differs. */
const bigCode = {
  model_type: "gpt_bigcode",
  activation_function: "gelu_pytorch_tanh",
  attention_softmax_in_fp32: true,
  scale_attention_softmax_in_fp32: true,
};

/** A model of a config that differs from GPT-2's by `changes`; `change` adds and removes tensors. */
function row(
  model: string,
  special: string,
  changes: Config,
  outcome: Pick<Row, "refusal" | "warning" | "reference"> = {},
  change: (this: typeof outcome, tensors: Map<string, FloatTensor>) => void = () => undefined,
): Row {
  const config = { model_type: "gpt2", ...sizes, ...changes };
  const tensors = seededTensors(config, model.length);
  change.call(outcome, tensors);
  return { model, special, config, tensors, ...outcome };
}

const tensor = (...shape: number[]): FloatTensor => {
  const values = Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => Math.sin(i) / 3);
  return { shape, values };
};

export const rows: Row[] = [
  row("openai-community/gpt2", "tied head, tensors without a prefix", {}),
  row("a fine-tune", "tensors with `transformer.`, masks", {}, {}, (tensors) => {
    for (const [name, value] of [...tensors]) {
      tensors.delete(name);
      tensors.set(`transformer.${name}`, value);
    }
    tensors.set("transformer.h.0.attn.bias", tensor(1, 1, 32, 32));
    tensors.set("transformer.h.0.attn.masked_bias", tensor(1));
  }),
  row("codeparrot, Stanford CRFM", "`scale_attn_by_inverse_layer_idx`, `reorder_and_upcast_attn`", {
    scale_attn_by_inverse_layer_idx: true,
    reorder_and_upcast_attn: true,
  }),
  row("GPT-2 without scaled attention", "`scale_attn_weights: false`", { scale_attn_weights: false }),
  ...["gelu_fast", "gelu", "relu", "silu", "quick_gelu"].map((name) =>
    row(`GPT-2 with ${name}`, `\`activation_function: "${name}"\``, {
      activation_function: name,
    }),
  ),
  row(
    "GPT-2 with an unsupported activation",
    '`activation_function: "mish"`',
    { activation_function: "mish" },
    { refusal: '"activation_function" is "mish", expected one of' },
  ),
  row("GPT-2 with the generic names of its sizes", "`hidden_size`, `num_hidden_layers`, …", {
    hidden_size: sizes.n_embd,
    num_hidden_layers: sizes.n_layer,
    num_attention_heads: sizes.n_head,
    max_position_embeddings: sizes.n_positions,
  }),
  row(
    "GPT2ForSequenceClassification",
    "`score.weight`",
    { architectures: ["GPT2ForSequenceClassification"] },
    { warning: '"score.*"' },
    (tensors) => tensors.set("score.weight", tensor(2, 32)),
  ),
  row("TRL's value head", "`v_head.summary`", {}, { warning: '"v_head.*"' }, (tensors) => {
    tensors.set("v_head.summary.weight", tensor(1, 32));
    tensors.set("v_head.summary.bias", tensor(1));
  }),
  row(
    "GPT2DoubleHeadsModel",
    "`multiple_choice_head`",
    {},
    { warning: '"multiple_choice_head.*"' },
    (tensors) => tensors.set("multiple_choice_head.summary.weight", tensor(1, 32)),
  ),
  row("GPT-2 that stores its tied head, too", "`lm_head.weight` equal to `wte.weight`", {}, {}, (tensors) => {
    const embedding = tensors.get("wte.weight");
    if (embedding) tensors.set("lm_head.weight", embedding);
  }),
  row(
    "GPT-2 that stores another head than the tied one",
    "`tie_word_embeddings: true`, `lm_head.weight` differs",
    { tie_word_embeddings: true },
    { warning: "lm_head.weight differs from wte.weight" },
    (tensors) => tensors.set("lm_head.weight", tensor(60, 32)),
  ),
  row(
    "GPT-2 saved by safetensors.torch",
    "`lm_head.weight` alone, tied",
    {},
    { reference: new Map() },
    function (tensors) {
      const embedding = tensors.get("wte.weight");
      if (embedding) tensors.set("lm_head.weight", embedding);
      for (const [name, value] of tensors) this.reference?.set(name, value);
      tensors.delete("wte.weight");
    },
  ),
  row(
    "the decoder of an encoder-decoder model",
    "`add_cross_attention: true`",
    { add_cross_attention: true },
    { refusal: '"add_cross_attention" is true, which this engine does not compute' },
  ),
  row(
    "GPT-2 with tensors of cross-attention",
    "`h.*.crossattention.*`",
    {},
    { refusal: "belongs to cross-attention" },
    (tensors) => tensors.set("h.0.crossattention.c_attn.weight", tensor(32, 64)),
  ),
  row(
    "a model with its own Python code",
    "`auto_map`",
    { auto_map: { AutoModelForCausalLM: "modeling.Model" } },
    { refusal: "the model's own code" },
  ),
  row(
    "GPT-2 with rotary positions",
    "`rotary_dim`",
    { rotary_dim: 16 },
    { refusal: '"rotary_dim" is 16, a key that GPT-2 does not have' },
  ),
  row(
    "GPT-2 with pruned heads",
    "`pruned_heads`",
    { pruned_heads: { 0: [1] } },
    { refusal: '"pruned_heads" is an object' },
  ),
  row("bigcode/tiny_starcoder_py", '`model_type: "gpt_bigcode"`: all heads share one key and one value', {
    ...bigCode,
    multi_query: true,
    n_inner: 80,
    inference_runner: 0,
    validate_runner_input: true,
    pad_key_length: true,
  }),
  row("GPT-BigCode with a key for each head", "`multi_query: false`: each head's rows side by side", {
    ...bigCode,
    multi_query: false,
    num_key_value_heads: sizes.n_head,
    scale_attn_weights: false,
  }),
  row(
    "GPT-BigCode with groups of heads",
    "`num_key_value_heads` that is neither 1 nor `n_head`",
    { ...bigCode, n_head: 4, num_key_value_heads: 2 },
    { refusal: '"num_key_value_heads" is 2, expected 1' },
  ),
  row(
    "GPT-BigCode with scales by layer",
    "`scale_attn_by_inverse_layer_idx`",
    { ...bigCode, scale_attn_by_inverse_layer_idx: true },
    { refusal: "is true, a key that GPT-BigCode does not have" },
  ),
  row(
    "GPT-2 with one key for all heads",
    "`multi_query: true`",
    { multi_query: true },
    { refusal: '"multi_query" is true, a key that GPT-2 does not have' },
  ),
  row(
    "GPT-2 with unknown keys",
    "unknown keys in `config.json`",
    { dataset: "tales" },
    { warning: '"dataset": "tales"' },
  ),
];

/** The result of the float64 forward pass for `ids`. */
export function expectedLogits({ config, tensors, reference }: Row, ids: readonly number[]): number[][] {
  return forward64(config, reference ?? tensors, ids).logits;
}
