// GPT-2 in float64, operation by operation (Radford et al. 2019; transformers, modeling_gpt2.py), and GPT-BigCode
// (modeling_gpt_bigcode.py): slow and plain. It is the engine's reference.

/**
 * @typedef {{ shape: number[], values: ArrayLike<any> }} FloatTensor By its name on the hub. GPT-2's Conv1D weights are
 *   [in, out], GPT-BigCode's Linear weights [out, in].
 */
/** @typedef {Record<string, any>} Config config.json, parsed. */

/** The error function: a series without cancellation (DLMF 7.6.2). Beyond 6 it is 1 in float64. */
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let sum = 0;
  for (let n = 0, term = x; n < 150; term *= (2 * x * x) / (2 * ++n + 1)) sum += term;
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const geluTanh = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
const geluErf = (x) => 0.5 * x * (1 + erf(x / Math.SQRT2));
const silu = (x) => x * sigmoid(x);

/** The activations, as in activations.py of transformers. */
const activations = {
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

/** Whether the model is a GPT-BigCode, not a GPT-2. */
export const isBigCode = (config) => config.model_type === "gpt_bigcode";

/** Heads of keys and values: GPT-BigCode has one for all queries, unless its config says otherwise. */
export const keyHeads = (config) => (isBigCode(config) && (config.multi_query ?? true) ? 1 : config.n_head);

/**
 * A head's query, key and value out of a row of c_attn's outputs. GPT-2 has all queries, all keys and all values one after the
 * other; so has a GPT-BigCode with one head of keys. With more it has each head's query, key and value side by side.
 */
function splitHead(config, row, head) {
  const { n_embd: width, n_head: heads } = config;
  const dim = width / heads;
  const at = (start) => row.slice(start, start + dim);
  const kvHeads = keyHeads(config);
  if (isBigCode(config) && kvHeads > 1) {
    return { q: at(3 * head * dim), k: at((3 * head + 1) * dim), v: at((3 * head + 2) * dim) };
  }
  const kvHead = kvHeads === 1 ? 0 : head;
  return { q: at(head * dim), k: at(width + kvHead * dim), v: at(width + (kvHeads + kvHead) * dim) };
}

/**
 * Logits of each position, [ids, vocab_size], and the residual stream after the embedding, each attention and each MLP, and
 * through ln_f, [ids, n_embd] each.
 * @param {Config} config
 * @param {ReadonlyMap<string, FloatTensor>} tensors
 * @param {readonly number[]} ids
 * @param {(name: string, rows: number[][]) => void} [visit] Gets the rows of places by the names of the captures, and may change
 *   them. A row of `attn.pattern` has the weights of all heads, [n_head, ids].
 */
export function forward64(config, tensors, ids, visit = () => {}) {
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
  const linear = (name, x) => {
    const { shape, values: weight } = need(`${name}.weight`);
    const start = bias(name);
    const [outputs = 0, inputs = 0] = isBigCode(config) ? shape : shape.toReversed();
    const at = (o, i) => (isBigCode(config) ? o * inputs + i : i * outputs + o);
    return Array.from({ length: outputs }, (_, o) =>
      x.reduce((sum, value, i) => sum + value * weight[at(o, i)], start?.[o] ?? 0),
    );
  };
  const add = (x, delta) => x.map((value, i) => value + delta[i]);

  const visited = (name, rows) => {
    visit(name, rows);
    return rows;
  };

  const embedded = visited(
    "embed",
    ids.map((id) => rowOf("wte.weight", id)),
  );
  const placed = visited(
    "pos_embed",
    ids.map((_, at) => rowOf("wpe.weight", at)),
  );
  let x = embedded.map((row, at) => add(row, placed[at]));
  /** @type {Record<string, number[][]>} */
  const trace = { embed: x };
  for (let layer = 0; layer < layers; ++layer) {
    const qkv = x.map((row) => linear(`h.${layer}.attn.c_attn`, norm(`h.${layer}.ln_1`, row)));
    let scale = config.scale_attn_weights === false ? 1 : 1 / Math.sqrt(dim);
    if (config.scale_attn_by_inverse_layer_idx) scale /= layer + 1;
    const split = qkv.map((row) => Array.from({ length: heads }, (_, head) => splitHead(config, row, head)));
    visit(
      `blocks.${layer}.attn.v`,
      split.map((each) => each.slice(0, keyHeads(config)).flatMap(({ v }) => v)),
    );
    const patterns = visited(
      `blocks.${layer}.attn.pattern`,
      split.map((own, at) =>
        own.flatMap(({ q }, head) => {
          const scores = split
            .slice(0, at + 1)
            .map((other) => other[head].k.reduce((sum, value, i) => sum + value * q[i], 0) * scale);
          const most = Math.max(...scores);
          const weights = scores.map((score) => Math.exp(score - most));
          const sum = weights.reduce((a, b) => a + b);
          return ids.map((_, j) => (weights[j] ?? 0) / sum);
        }),
      ),
    );
    const mixed = visited(
      `blocks.${layer}.attn.z`,
      patterns.map((pattern) =>
        Array.from({ length: width }, (_, i) => {
          const head = Math.floor(i / dim);
          return split.reduce(
            (total, row, j) => total + pattern[head * ids.length + j] * row[head].v[i % dim],
            0,
          );
        }),
      ),
    );
    const attention = mixed.map((row) => linear(`h.${layer}.attn.c_proj`, row));
    visit(`blocks.${layer}.attn_out`, attention);
    x = x.map((row, at) => add(row, attention[at]));
    trace[`h.${layer}.attn`] = x;
    const hidden = x.map((row) =>
      linear(`h.${layer}.mlp.c_fc`, norm(`h.${layer}.ln_2`, row)).map(activation),
    );
    const mlp = hidden.map((row) => linear(`h.${layer}.mlp.c_proj`, row));
    visit(`blocks.${layer}.mlp_out`, mlp);
    x = x.map((row, at) => add(row, mlp[at]));
    visit(`blocks.${layer}.resid_post`, x);
    trace[`h.${layer}.mlp`] = x;
  }
  x = x.map((row) => norm("ln_f", row));
  visit("ln_final.normalized", x);
  trace.ln_f = x;
  const isTied = config.tie_word_embeddings !== false && !find("lm_head.weight");
  const head = values(isTied ? "wte.weight" : "lm_head.weight");
  const headBias = bias("lm_head");
  const logits = visited(
    "logits",
    x.map((row) =>
      Array.from({ length: config.vocab_size }, (_, id) =>
        row.reduce((sum, value, i) => sum + value * head[id * width + i], headBias?.[id] ?? 0),
      ),
    ),
  );
  return { logits, trace };
}
