// Small models generated from a seed, for the self-test: the same bytes on every device.

/** The parameters of a small model. */
export interface Shape {
  nEmbd: number;
  nHead: number;
  /** Activation of the MLP. */
  activation: "gelu_new" | "gelu";
  /** Whether the output head shares the embedding's weights. */
  isTied: boolean;
  seed: number;
}

export interface ModelFile {
  name: string;
  content: string | Uint8Array<ArrayBuffer>;
}

const nLayer = 2;
const nPositions = 192;

/** The merges in order; "Ġ" is a space, "Ċ" a line feed. */
const merges =
  "Ġ t|h e|i n|Ġ a|r e|o n|Ġt he|e r|Ġ s|a t|Ġ w|Ġ o|e n|Ġ c|i t|i s|a n|o r|e s|Ġ b|e d|Ġ f|in g|Ġ p|o u|Ġa n|a l|a r|Ġt o|Ġ m|Ġo f|Ġ in|Ġ d|Ġ h|Ġan d|Ċ Ċ|' s|' t|1 9|19 8|â Ģ|Ã ©|ð Ł|Ġ Ġ|ĠĠ ĠĠ".split(
    "|",
  );

/** GPT-2's alphabet of bytes: bytes that are no printable characters are written as characters above 255. */
function byteAlphabet(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isVisible = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCharCode(isVisible ? byte : next++);
  });
}

const words: readonly string[] = [
  ...byteAlphabet(),
  ...merges.map((pair) => pair.replace(" ", "")),
  "<|endoftext|>",
];

/** Numbers from -1 to 1 in steps of 2^-23 (mulberry32), which no browser rounds. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >> 8) / 2 ** 23;
  };
}

/** Names and shapes of the tensors, as in GPT-2's files. */
function tensorsOf({ nEmbd, isTied }: Shape): Record<string, number[]> {
  const vector = (name: string, size: number) => ({ [name]: [size] });
  const norm = (name: string) => ({ ...vector(`${name}.weight`, nEmbd), ...vector(`${name}.bias`, nEmbd) });
  const linear = (name: string, from: number, to: number) => ({
    [`${name}.weight`]: [from, to],
    ...vector(`${name}.bias`, to),
  });
  const layers = Array.from({ length: nLayer }, (_, layer) => ({
    ...norm(`h.${layer}.ln_1`),
    ...linear(`h.${layer}.attn.c_attn`, nEmbd, 3 * nEmbd),
    ...linear(`h.${layer}.attn.c_proj`, nEmbd, nEmbd),
    ...norm(`h.${layer}.ln_2`),
    ...linear(`h.${layer}.mlp.c_fc`, nEmbd, 4 * nEmbd),
    ...linear(`h.${layer}.mlp.c_proj`, 4 * nEmbd, nEmbd),
  }));
  return {
    "wte.weight": [words.length, nEmbd],
    "wpe.weight": [nPositions, nEmbd],
    ...Object.assign({}, ...(layers as object[])),
    ...norm("ln_f"),
    ...(isTied ? {} : { "lm_head.weight": [words.length, nEmbd] }),
  } as Record<string, number[]>;
}

function safetensors(shape: Shape): Uint8Array<ArrayBuffer> {
  const next = random(shape.seed);
  const tensors = Object.entries(tensorsOf(shape));
  const header: Record<string, unknown> = {};
  let size = 0;
  for (const [name, dimensions] of tensors) {
    const end = size + 4 * dimensions.reduce((product, each) => product * each, 1);
    header[name] = { dtype: "F32", shape: dimensions, data_offsets: [size, end] };
    size = end;
  }
  const json = JSON.stringify(header);
  const text = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8));
  const bytes = new Uint8Array(8 + text.length + size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, text.length, true);
  bytes.set(text, 8);
  let at = 8 + text.length;
  for (const [name, dimensions] of tensors) {
    const count = dimensions.reduce((product, each) => product * each, 1);
    const [scale, middle] = /ln_.*\.weight$/.test(name) ? [0.25, 1] : [0.5, 0];
    for (let number = 0; number < count; number += 1, at += 4)
      view.setFloat32(at, middle + scale * next(), true);
  }
  return bytes;
}

/** The files of the model, laid out as on the Hub. */
export function modelFiles(shape: Shape): ModelFile[] {
  const config = {
    model_type: "gpt2",
    n_layer: nLayer,
    n_head: shape.nHead,
    n_embd: shape.nEmbd,
    n_positions: nPositions,
    n_ctx: nPositions,
    vocab_size: words.length,
    activation_function: shape.activation,
    layer_norm_epsilon: 1e-5,
    tie_word_embeddings: shape.isTied,
    bos_token_id: words.length - 1,
    eos_token_id: words.length - 1,
  };
  return [
    { name: "config.json", content: JSON.stringify(config) },
    { name: "vocab.json", content: JSON.stringify(Object.fromEntries(words.map((word, id) => [word, id]))) },
    { name: "merges.txt", content: `#version: 0.2\n${merges.join("\n")}\n` },
    { name: "model.safetensors", content: safetensors(shape) },
  ];
}

/** The number of token ids. */
export const vocabSize = words.length;
