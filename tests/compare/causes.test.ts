// What is built on captures and changes, with the float64 reference as its model. The engine's hooks are compared with another
// float64 reference in tests/generate/changes_test.cc.
import { expect, it, vi } from "vitest";
import { attribute, neighbours } from "../../web/src/client/causes.js";
import type { Captured, Change } from "../../web/src/shared/types.js";
import { forward64, isBigCode, keyHeads, type Config, type FloatTensor } from "./forward64.mjs";
import { seededTensors } from "./seeded-model.mjs";

const sizes = { n_embd: 12, n_head: 3, n_layer: 2, n_positions: 16, vocab_size: 20 };
const bigcode = { model_type: "gpt_bigcode", activation_function: "gelu_pytorch_tanh" };
const kinds: [name: string, more: Config][] = [
  ["GPT-2", {}],
  ["scores scaled by layer, ReLU", { scale_attn_by_inverse_layer_idx: true, activation_function: "relu" }],
  ["an output layer of its own, with a bias", { tie_word_embeddings: false, activation_function: "silu" }],
  ["GPT-BigCode, one head of keys", { ...bigcode, multi_query: true }],
  ["GPT-BigCode, interleaved", { ...bigcode, multi_query: false }],
];

function make(more: Config) {
  const config: Config = { model_type: "gpt2", ...sizes, ...more };
  const tensors = new Map<string, FloatTensor>(seededTensors(config, 7));
  if (config.tie_word_embeddings === false) {
    const values = (count: number, step: number) =>
      Array.from({ length: count }, (_, i) => Math.sin(i * step));
    tensors.set("lm_head.weight", { shape: [20, 12], values: values(240, 1.7) });
    tensors.set("lm_head.bias", { shape: [20], values: values(20, 0.9) });
  }
  return { config, tensors };
}

const tokens = [3, 14, 1, 5, 9, 2];
const rowOf = (rows: readonly number[][], at = rows.length - 1) => rows[at] ?? [];
const dot = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, value, i) => sum + value * (other[i] ?? 0), 0);

/** A model that captures and sets values in the reference, as `inspect` does. */
function subject({ config, tensors }: ReturnType<typeof make>) {
  const { n_embd: nEmbd, n_head: nHead, n_layer: nLayer } = sizes;
  const headsOf = (name: string) =>
    name.endsWith("attn.v") ? keyHeads(config) : /attn\.(z|pattern)$/.test(name) ? nHead : undefined;
  const matches = (pattern: string, name: string) => pattern.replace("*", name.split(".")[1] ?? "") === name;
  const inspect = async (
    ids: readonly number[],
    options: { capture?: readonly string[]; positions?: readonly number[]; change?: readonly Change[] },
  ) => {
    const captured: Record<string, Captured> = {};
    const { logits } = forward64(config, tensors, ids, (name, rows) => {
      for (const { at, head, position, set } of options.change ?? []) {
        if (!matches(at, name)) continue;
        const where = position === undefined ? ids.map((_, each) => each) : [position].flat();
        const width = rowOf(rows).length / (head === undefined ? 1 : (headsOf(name) ?? 1));
        for (const [index, place] of where.entries())
          for (let i = 0; i < width; i += 1) {
            const values = set as number | ArrayLike<number>;
            const value = typeof values === "number" ? values : values[(index * width + i) % values.length];
            rowOf(rows, place)[(head ?? 0) * width + i] = value ?? NaN;
          }
      }
      if (!options.capture?.some((each) => matches(each, name))) return;
      const kept = (options.positions ?? [...ids.keys()]).map((place) => rowOf(rows, place));
      const isPattern = name.endsWith("pattern");
      const data = Float32Array.from(
        isPattern
          ? Array.from({ length: nHead }, (_, head) =>
              kept.map((row) => row.slice(head * ids.length, (head + 1) * ids.length)),
            ).flat(2)
          : kept.flat(),
      );
      captured[name] = { data, shape: [] };
    });
    const last = rowOf(logits);
    return { ids: [...ids], captured, guesses: [[{ id: last.indexOf(Math.max(...last)) }]] };
  };
  const info = {
    hasTokenizer: false,
    config: {
      ...{ nEmbd, nHead, nLayer, nPositions: sizes.n_positions, vocabSize: sizes.vocab_size },
      numKeyValueHeads: keyHeads(config),
      tieWordEmbeddings: config.tie_word_embeddings !== false,
    },
  };
  return { info, inspect } as unknown as Parameters<typeof attribute>[0];
}

it.each(kinds)(
  "attribute adds up to the logit, with each head's part as in the reference: %s",
  async (_, more) => {
    const model = make(more);
    const { config, tensors } = model;
    const seen = new Map<string, number[][]>();
    const { logits, trace } = forward64(config, tensors, tokens, (name, rows) =>
      seen.set(
        name,
        rows.map((row) => [...row]),
      ),
    );
    const last = rowOf(logits);
    const guess = last.indexOf(Math.max(...last));
    const found = await attribute(subject(model), tokens, { against: 4 });
    expect(found.token).toBe(guess);
    expect(found.logit).toBeCloseTo((last[guess] ?? 0) - (last[4] ?? 0), 5);
    expect(Math.abs(found.rounding)).toBeLessThan(1e-5);
    expect(found.sources).toHaveLength(2 * 3 * tokens.length);

    // What one head adds from one token, by the weights themselves.
    const width = 12;
    const head = tensors.get(config.tie_word_embeddings === false ? "lm_head.weight" : "wte.weight");
    const rowsOfHead = [guess, 4].map((id) =>
      Array.from(head?.values ?? []).slice(id * width, (id + 1) * width),
    );
    const gain = Array.from(tensors.get("ln_f.weight")?.values ?? [], Number);
    const towards = gain.map((value, i) => value * ((rowsOfHead[0]?.[i] ?? 0) - (rowsOfHead[1]?.[i] ?? 0)));
    const residual = rowOf(trace["h.1.mlp"] ?? []);
    const mean = residual.reduce((sum, value) => sum + value, 0) / width;
    const scale = Math.sqrt(residual.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width + 1e-5);
    const centred = towards.map((value) => value - towards.reduce((sum, each) => sum + each, 0) / width);
    const part = (vector: readonly number[]) => dot(centred, vector) / scale;
    for (const [layer, at, source] of [
      [0, 0, 2],
      [1, 2, 5],
      [1, 1, 0],
    ] as const) {
      const weight = rowOf(seen.get(`blocks.${layer}.attn.pattern`) ?? [])[at * tokens.length + source] ?? 0;
      const values = rowOf(seen.get(`blocks.${layer}.attn.v`) ?? [], source);
      const first = keyHeads(config) === 1 ? 0 : at * 4;
      const { values: matrix = [] } = tensors.get(`h.${layer}.attn.c_proj.weight`) ?? {};
      const vector = Array.from({ length: width }, (_o, o) =>
        [0, 1, 2, 3].reduce((sum, i) => {
          const row = at * 4 + i;
          const cell = isBigCode(config) ? matrix[o * width + row] : matrix[row * width + o];
          return sum + weight * (values[first + i] ?? 0) * Number(cell);
        }, 0),
      );
      const index = (layer * 3 + at) * tokens.length + source;
      expect(found.sources[index], `${layer}.${at} from ${source}`).toBeCloseTo(part(vector), 5);
    }
    expect(found.mlps[1]).toBeCloseTo(part(rowOf(seen.get("blocks.1.mlp_out") ?? [])), 5);
    expect(found.embedding).toBeCloseTo(part(rowOf(seen.get("embed") ?? [])), 5);
    expect(found.position).toBeCloseTo(part(rowOf(seen.get("pos_embed") ?? [])), 5);
  },
);

it.each([1, 16])("attribute adds up for a text of %i tokens; the context holds 16", async (count) => {
  const text = Array.from({ length: count }, (_, i) => (i * 7) % 20);
  const onProgress = vi.fn();
  const found = await attribute(subject(make({})), text, { token: 2, onProgress });
  expect(Math.abs(found.rounding)).toBeLessThan(1e-5);
  expect(found.sources.every(Number.isFinite)).toBe(true);
  expect(onProgress).toHaveBeenLastCalledWith({ done: 3 * count, total: 3 * count });
});

it.each(kinds)("neighbours have the largest cosines of the output layer's rows: %s", async (_, more) => {
  const model = make(more);
  const { tensors } = model;
  const { values = [] } = tensors.get("lm_head.weight") ?? tensors.get("wte.weight") ?? {};
  const rows = Array.from({ length: 20 }, (_row, id) =>
    Array.from(values, Number).slice(id * 12, (id + 1) * 12),
  );
  const cosine = (id: number) =>
    dot(rowOf(rows, id), rowOf(rows, 6)) /
    Math.sqrt(dot(rowOf(rows, id), rowOf(rows, id)) * dot(rowOf(rows, 6), rowOf(rows, 6)));
  const nearest = [...rows.keys()].filter((id) => id !== 6).sort((one, other) => cosine(other) - cosine(one));
  const found = await neighbours(subject(model), 6, { top: 3 });
  expect(found.map(({ id }) => id)).toEqual(nearest.slice(0, 3));
  expect(found[0]?.cosine).toBeCloseTo(cosine(nearest[0] ?? 0), 5);
  expect(found[0]?.text).toBe(`#${nearest[0]}`);
});
