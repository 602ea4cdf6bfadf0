// Small models of seeded weights, as transformers writes them.
import { isBigCode, keyHeads } from "./forward64.mjs";

/** @typedef {import("./forward64.mjs").Config} Config */
/** @typedef {import("./forward64.mjs").FloatTensor} FloatTensor */

/** Numbers from -1 to 1 that look random and are the same each time (Lehmer's generator, "minstd"). */
function randomFrom(seed) {
  let state = seed;
  return () => (2 * (state = (state * 48271) % 2147483647)) / 2147483647 - 1;
}

/**
 * The tensors of a model of `config`, float32.
 * @param {Config} config
 * @param {number} seed
 * @returns {Map<string, FloatTensor>}
 */
export function seededTensors(config, seed = 1) {
  const next = randomFrom(seed);
  const { n_embd: width, n_layer, n_positions, vocab_size } = config;
  const inner = config.n_inner ?? 4 * width;
  const kvWidth = (width / config.n_head) * keyHeads(config);
  /** @type {Map<string, FloatTensor>} */
  const tensors = new Map();
  const add = (name, shape, size, middle = 0) => {
    const count = shape.reduce((a, b) => a * b);
    tensors.set(name, { shape, values: Float32Array.from({ length: count }, () => middle + size * next()) });
  };
  const norm = (name) => {
    add(`${name}.weight`, [width], 0.2, 1);
    add(`${name}.bias`, [width], 0.1);
  };
  // The weights are large enough for results of about 1, where activations differ.
  const linear = (name, inputs, outputs) => {
    const shape = isBigCode(config) ? [outputs, inputs] : [inputs, outputs];
    add(`${name}.weight`, shape, 1.5 / Math.sqrt(inputs));
    add(`${name}.bias`, [outputs], 0.1);
  };
  add("wte.weight", [vocab_size, width], 0.3);
  add("wpe.weight", [n_positions, width], 0.1);
  for (let layer = 0; layer < n_layer; ++layer) {
    norm(`h.${layer}.ln_1`);
    linear(`h.${layer}.attn.c_attn`, width, width + 2 * kvWidth);
    linear(`h.${layer}.attn.c_proj`, width, width);
    norm(`h.${layer}.ln_2`);
    linear(`h.${layer}.mlp.c_fc`, width, inner);
    linear(`h.${layer}.mlp.c_proj`, inner, width);
  }
  norm("ln_f");
  return tensors;
}

/**
 * A safetensors file of float32 tensors, in their order.
 * @param {ReadonlyMap<string, FloatTensor>} tensors
 */
export function safetensorsFile(tensors) {
  const bytes = [...tensors.values()].map(({ values }) => Buffer.from(Float32Array.from(values).buffer));
  let end = 0;
  const entries = [...tensors].map(([name, { shape }], i) => {
    const begin = end;
    end += bytes[i]?.length ?? 0;
    return [name, { dtype: "F32", shape, data_offsets: [begin, end] }];
  });
  const header = Buffer.from(
    JSON.stringify({ __metadata__: { format: "pt" }, ...Object.fromEntries(entries) }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, ...bytes]);
}
