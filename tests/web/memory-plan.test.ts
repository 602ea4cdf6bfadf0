// The estimate, term by term: what each number of config.json adds to it.
import { expect, it } from "vitest";
import { planMemory } from "../../web/src/worker/memory-plan.js";

type Kv = "q8" | "f32" | undefined;
const page = 65536;
const megabyte = 1024 * 1024;
const stored = (weights: unknown) => ({ quantization_config: { weights } });

/** The planned bytes, rounded to a page. */
const initial = (config: unknown, weightBytes = 0, kv?: Kv) =>
  planMemory(config, weightBytes, kv).initial * page;
/** The bytes that `more` of the config adds to a plan for q8 weights. */
const added = (more: object, kv?: Kv, weights: unknown = "q8") =>
  initial({ ...stored(weights), ...more }, 0, kv) - initial(stored(weights), 0, kv);
const expectAbout = (bytes: number, expected: number) =>
  expect(Math.abs(bytes - expected), `${bytes}, expected ${expected}`).toBeLessThanOrEqual(page);

it.each([
  ["f32", stored("f32"), 1.02],
  ["f16, which is widened", stored("f16"), 2.04],
  ["q8", stored("q8"), 1.08],
  ["q4", stored("q4"), 1.08],
  ["what is unknown, as the largest", stored("q5"), 2.04],
  ["what is not said", { quantization_config: null }, 2.04],
  ["what is no object", "q8", 2.04],
])("planMemory counts memory for each byte of the file: %s", (_, config, each) => {
  expectAbout(initial(config, 1e9) - initial(config, 0), each * 1e9);
});

it("planMemory adds memory for the engine itself, and room to grow", () => {
  expect(planMemory({}, 0, undefined)).toEqual({
    initial: (24 * megabyte) / page,
    maximum: ((1.25 * 24 + 64) * megabyte) / page,
  });
});

it.each([
  ["q8", undefined, 1.2],
  ["q4", undefined, 1.2],
  ["q8", "q8", 1.2],
  ["q8", "f32", 4],
  ["f32", undefined, 4],
  ["f16", undefined, 4],
] as const)("planMemory counts the cache of keys and values: weights %s, kv %s", (weights, kv, each) => {
  const shape = { n_embd: 1000, n_layer: 10, n_positions: 5000 };
  const cache = added(shape, kv, weights) - added({ ...shape, n_layer: 0 }, kv, weights);
  expectAbout(cache, 1000 * 10 * 5000 * 2 * each);
  // The older name counts if the newer one is missing.
  const { n_positions, ...older } = shape;
  expect(added({ ...older, n_ctx: n_positions }, kv, weights)).toBe(added(shape, kv, weights));
  expect(added({ ...shape, n_ctx: 1 }, kv, weights)).toBe(added(shape, kv, weights));
});

it("planMemory counts the sizes that transformers assumes, and those with other names", () => {
  const all = { n_embd: 768, n_head: 12, n_layer: 12, n_positions: 1024, vocab_size: 50257 };
  expect(added({ model_type: "gpt2" })).toBe(added(all));
  const { n_layer: num_hidden_layers, n_positions: max_position_embeddings, n_embd: hidden_size } = all;
  expect(added({ num_hidden_layers, max_position_embeddings, hidden_size, vocab_size: 50257 })).toBe(
    added(all),
  );
});

it("planMemory counts one key and value for all heads of a GPT-BigCode model", () => {
  const shape = { model_type: "gpt_bigcode", n_embd: 1000, n_head: 10, n_layer: 10, n_positions: 5000 };
  const cache = (more: object) => added({ ...shape, ...more }) - added({ ...shape, ...more, n_layer: 0 });
  const all = 1000 * 10 * 5000 * 2 * 1.2;
  expectAbout(cache({}), all / 10);
  expectAbout(cache({ multi_query: true }), all / 10);
  for (const multi_query of [false, null, "yes"]) expectAbout(cache({ multi_query }), all);
  expectAbout(cache({ model_type: "gpt2" }), all);
  expectAbout(cache({ n_head: undefined }), all / 12); // transformers' default
});

it("planMemory counts positions, activations, logits and the tokenizer", () => {
  expectAbout(added({ n_embd: 10_000 }), 10_000 * 64 * 16 * 4);
  expectAbout(
    added({ n_embd: 10_000, n_positions: 10_000 }) - added({ n_embd: 10_000 }),
    10_000 * 10_000 * 4,
  );
  expectAbout(added({ vocab_size: 1_000_000 }), 1_000_000 * (16 * 4 + 400));
});

it("planMemory may grow by a quarter, and by the caches of 15 more continuations", () => {
  const shape = { ...stored("q8"), n_embd: 1000, n_layer: 10, n_positions: 1000 };
  const plan = planMemory(shape, 0, undefined);
  const caches = 15 * 1000 * 10 * 1000 * 2 * 1.2;
  expectAbout(plan.maximum * page, 1.25 * plan.initial * page + caches + 64 * megabyte);
});

const shape = { n_embd: 384, n_layer: 6, n_positions: 256, vocab_size: 8192 };
it.each([
  { ...shape, n_ctx: 1e9, n_positions: undefined },
  { ...shape, n_layer: 1e300, n_embd: 1e300 },
  { vocab_size: 1e9 },
  { n_embd: 1e6, n_positions: 1e6 },
])("planMemory plans little memory for a model that the engine refuses: %o", (config) => {
  expect(initial({ ...stored("q8"), ...config }, 13e6)).toBe(24 * megabyte);
});

it("planMemory treats an invalid config or width as missing", () => {
  for (const config of [null, 3, "text", [], undefined])
    expect(planMemory(config, 0, undefined)).toEqual(planMemory({}, 0, undefined));
  const rest = { n_layer: 10, n_positions: 1000 };
  for (const n_embd of ["768", -768, NaN, Infinity, null, {}, true])
    expect(planMemory({ ...rest, n_embd }, 0, undefined)).toEqual(planMemory(rest, 0, undefined));
});

it("planMemory starts with at most half of what 32 bits can address, and grows to at most all of it", () => {
  expect(planMemory({}, 1e12, undefined)).toEqual({ initial: 32768, maximum: 65536 });
});
