// GPT-2 in float64, operation by operation (Radford et al. 2019; transformers, modeling_gpt2.py): slow, plain, and what the
// engine is compared with.

/** @typedef {{ shape: number[], values: ArrayLike<any> }} FloatTensor By its name on the hub, Conv1D weights [in, out]. */
/** @typedef {Record<string, any>} Config config.json, parsed. */

/** The error function: its series near zero, a continued fraction of its complement beyond. */
function erf(x) {
  const a = Math.abs(x);
  if (a < 3) {
    let [term, sum] = [a, a];
    for (let n = 1; Math.abs(term) > 1e-17; ++n) {
      term *= -(a * a) / n;
      sum += term / (2 * n + 1);
    }
    return (Math.sign(x) * 2 * sum) / Math.sqrt(Math.PI);
  }
  let tail = 0;
  for (let n = 60; n > 0; --n) tail = n / 2 / (a + tail);
  return Math.sign(x) * (1 - Math.exp(-a * a) / (Math.sqrt(Math.PI) * (a + tail)));
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const geluTanh = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
const geluErf = (x) => 0.5 * x * (1 + erf(x / Math.SQRT2));
const silu = (x) => x * sigmoid(x);

/** transformers, activations.py. */
export const activations = {
  gelu_new: geluTanh,
  gelu_fast: geluTanh,
  gelu_accurate: geluTanh,
  gelu_pytorch_tanh: geluTanh,
  gelu: geluErf,
  gelu_python: geluErf,
  relu: (x) => Math.max(x, 0),
  silu,
  swish: silu,
  quick_gelu: (x) => x * sigmoid(1.702 * x),
};

function layerNorm(x, gain, bias, epsilon) {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  return x.map((value, i) => ((value - mean) / Math.sqrt(variance + epsilon)) * gain[i] + (bias?.[i] ?? 0));
}

/**
 * Logits of each position, [ids, vocab_size], and the residual stream after the embedding, each attention and each MLP, and
 * through ln_f, [ids, n_embd] each.
 * @param {Config} config
 * @param {ReadonlyMap<string, FloatTensor>} tensors
 * @param {readonly number[]} ids
 */
export function forward64(config, tensors, ids) {
  const { n_embd: width, n_head: heads, n_layer: layers } = config;
  const activation = activations[config.activation_function ?? "gelu_new"];
  const epsilon = config.layer_norm_epsilon ?? 1e-5;
  const dim = width / heads;
  const find = (name) => tensors.get(name) ?? tensors.get(`transformer.${name}`);
  const need = (name) => {
    const tensor = find(name);
    if (!tensor) throw new Error(`no tensor ${name}`);
    return tensor;
  };
  const values = (name) => need(name).values;
  const bias = (name) => find(`${name}.bias`)?.values;
  const rowOf = (name, row) => Array.from({ length: width }, (_, i) => values(name)[row * width + i]);
  const norm = (name, x) => layerNorm(x, values(`${name}.weight`), bias(name), epsilon);
  const conv1d = (name, x) => {
    const {
      shape: [, outputs = 0],
      values: weight,
    } = need(`${name}.weight`);
    const start = bias(name);
    return Array.from({ length: outputs }, (_, o) =>
      x.reduce((sum, value, i) => sum + value * weight[i * outputs + o], start?.[o] ?? 0),
    );
  };
  const add = (x, delta) => x.map((value, i) => value + delta[i]);

  let x = ids.map((id, at) => add(rowOf("wte.weight", id), rowOf("wpe.weight", at)));
  /** @type {Record<string, number[][]>} */
  const trace = { embed: x };
  for (let layer = 0; layer < layers; ++layer) {
    const qkv = x.map((row) => conv1d(`h.${layer}.attn.c_attn`, norm(`h.${layer}.ln_1`, row)));
    let scale = config.scale_attn_weights === false ? 1 : 1 / Math.sqrt(dim);
    if (config.scale_attn_by_inverse_layer_idx) scale /= layer + 1;
    const mixed = qkv.map((query, at) =>
      Array.from({ length: heads }, (_, head) => {
        const part = (row, which) => row.slice(which * width + head * dim, which * width + (head + 1) * dim);
        const q = part(query, 0);
        const past = qkv.slice(0, at + 1);
        const scores = past.map((row) => part(row, 1).reduce((sum, k, i) => sum + k * q[i], 0) * scale);
        const most = Math.max(...scores);
        const weights = scores.map((score) => Math.exp(score - most));
        const sum = weights.reduce((a, b) => a + b);
        return q.map((_, i) =>
          past.reduce((total, row, j) => total + ((weights[j] ?? 0) / sum) * part(row, 2)[i], 0),
        );
      }).flat(),
    );
    x = x.map((row, at) => add(row, conv1d(`h.${layer}.attn.c_proj`, mixed[at])));
    trace[`h.${layer}.attn`] = x;
    x = x.map((row) => {
      const hidden = conv1d(`h.${layer}.mlp.c_fc`, norm(`h.${layer}.ln_2`, row)).map(activation);
      return add(row, conv1d(`h.${layer}.mlp.c_proj`, hidden));
    });
    trace[`h.${layer}.mlp`] = x;
  }
  x = x.map((row) => norm("ln_f", row));
  trace.ln_f = x;
  const isTied = config.tie_word_embeddings !== false && !find("lm_head.weight");
  const head = values(isTied ? "wte.weight" : "lm_head.weight");
  const headBias = bias("lm_head");
  const logits = x.map((row) =>
    Array.from({ length: config.vocab_size }, (_, id) =>
      row.reduce((sum, value, i) => sum + value * head[id * width + i], headBias?.[id] ?? 0),
    ),
  );
  return { logits, trace };
}

/**
 * The most probable tokens, one after the other.
 * @param {Config} config
 * @param {ReadonlyMap<string, FloatTensor>} tensors
 * @param {readonly number[]} prompt
 * @param {number} count
 */
export function greedy64(config, tensors, prompt, count) {
  const ids = [...prompt];
  while (ids.length < prompt.length + count) {
    const last = forward64(config, tensors, ids).logits.at(-1) ?? [];
    ids.push(last.indexOf(Math.max(...last)));
  }
  return ids.slice(prompt.length);
}
