// The engine's WebAssembly in Node, in memories that are smaller and larger than usual. The `wasm` step of
// `npm test` builds it.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseWeightsIndex } from "../../web/src/model/weights-index.js";
import { Engine } from "../../web/src/worker/engine.js";
import type { Allocator } from "../../web/src/model/wasm-instance.js";
import { createModule } from "../../web/src/model/wasm-module.js";
import { estimateMemory, planMemory } from "../../web/src/worker/memory-plan.js";
import { configOf, convert, hubFile } from "./support/convert.js";

const root = resolve(import.meta.dirname, "../..");
const file = resolve(root, "build/wasm/engine/gpt2-simd.wasm");
const megabyte = 1024 * 1024;
const pages = (bytes: number) => Math.ceil(bytes / 65536);

/** A vocabulary of ASCII and some merges for the 160 ids of the tiny model. */
function vocabulary(): { vocab: string; merges: string } {
  const vocab: Record<string, number> = { Ġ: 32 };
  for (let byte = 33; byte < 127; ++byte) vocab[String.fromCharCode(byte)] = byte;
  vocab.aa = 127;
  vocab.aaaa = 128;
  return { vocab: JSON.stringify(vocab), merges: "a a\naa aa\n" };
}

let code: WebAssembly.Module;
let model: Awaited<ReturnType<typeof convert>>;

beforeAll(async () => {
  code = await WebAssembly.compile(readFileSync(file));
  model = await convert(hubFile(), { weights: "q8", config: configOf() });
});

async function start(memory: WebAssembly.Memory, beforehand = createModule): Promise<Engine> {
  const engine = await Engine.create(beforehand, code, memory, 1);
  const { vocab, merges } = vocabulary();
  engine.loadBegin(model.folder.config, vocab, merges, {});
  engine.loadWeights(model.file);
  engine.call("_gpt2_load_end");
  return engine;
}

function write(engine: Engine, prompt: string): number[] {
  const ids: number[] = [];
  engine.start("_gpt2_generate", prompt, { seed: 5, maxNewTokens: 12 });
  for (;;) {
    const step = engine.step("_gpt2_step");
    ids.push(...step.tokens.map((token) => token.id));
    if (step.isDone) return ids;
  }
}

const outOfMemory = expect.objectContaining({ code: "out-of-memory" }) as Error;

describe.skipIf(!existsSync(file))("the engine", () => {
  const small = (bytes: number) =>
    new WebAssembly.Memory({ initial: pages(4 * megabyte), maximum: pages(bytes) });

  it("the engine reports that memory ran out, and continues to work", async () => {
    const engine = await start(small(12 * megabyte));
    const expected = write(engine, "Once");
    const long = "a".repeat(4_000_000); // one word: three times its size, and its own
    const many = Array<number>(2_900_000).fill(128);
    expect(() => engine.start("_gpt2_generate", long, {})).toThrow(outOfMemory);
    expect(() => engine.start("_gpt2_score", long, {})).toThrow(outOfMemory);
    expect(() => engine.detokenize(many)).toThrow(outOfMemory);
    for (let i = 0; i < 5; ++i) expect(() => engine.tokenize(long, {})).toThrow(outOfMemory);
    expect(write(engine, "Once")).toEqual(expected);
    // So long a text takes several steps.
    expect(engine.tokenize("aaaaa ".repeat(20_000), {})).toEqual(Array(20_000).fill([128, 97, 32]).flat());
  });

  it.each(["q8", "f32"] as const)("the engine needs about the estimated memory: kv %s", async (kv) => {
    const demo = resolve(root, "web/models/demo");
    const read = (file: string) => readFileSync(resolve(demo, file));
    const engine = await Engine.create(createModule, code, small(256 * megabyte), 1);
    const text = (file: string) => read(file).toString();
    engine.loadBegin(text("config.json"), text("vocab.json"), text("merges.txt"), { kv });
    const index = parseWeightsIndex(text("weights.json"));
    for (const { path } of index.pieces) engine.loadWeights(read(path));
    const info = engine.call("_gpt2_load_end") as { weightBytes: number; contextBytes: number };
    const estimate = estimateMemory(JSON.parse(text("config.json")), index.size, kv);
    const expectCloseBelow = (bytes: number, estimated: number) => {
      expect(bytes).toBeLessThanOrEqual(estimated);
      expect(bytes).toBeGreaterThan(estimated * 0.75);
    };
    expectCloseBelow(info.weightBytes, estimate.weights);
    expectCloseBelow(info.contextBytes, estimate.cache + estimate.activations + estimate.logits);
  });

  it("within the planned memory, the engine refuses a config whose matrices 32 bits cannot address", async () => {
    const why = /a matrix of \d+ values, more than this build can address/;
    const config = JSON.parse(configOf()) as object;
    const wrong = { ...config, n_layer: 1024, n_positions: 2 ** 20 };
    const { initial } = planMemory(wrong, 1e6, undefined);
    expect(initial).toBeLessThan(pages(32 * megabyte));
    const memory = new WebAssembly.Memory({ initial, maximum: initial });
    const engine = await Engine.create(createModule, code, memory, 1);
    const { vocab, merges } = vocabulary();
    expect(() => engine.loadBegin(JSON.stringify(wrong), vocab, merges, {})).toThrow(
      expect.objectContaining({ code: "unsupported", message: expect.stringMatching(why) as string }),
    );
  });

  it("the engine accepts a prompt of 10 MB", async () => {
    const engine = await start(small(16 * megabyte));
    const end = " the end of it all, forty-eight tokens and more in all of it";
    const ids = write(engine, "ab ".repeat(3_333_333) + end);
    expect(ids).toEqual(write(engine, end));
  });

  it("the engine returns the scores of 300,000 tokens while it computes them", async () => {
    const engine = await start(small(8 * megabyte));
    const ids = Array.from({ length: 300_000 }, (_, i) => 33 + (i % 90));
    engine.start("_gpt2_score", ids, { stride: 47 });
    let step = engine.output();
    const before = engine.memoryBytes;
    for (let done = step.tokens.length, i = 0; i < 500; ++i) {
      step = engine.step("_gpt2_score_step");
      done += step.tokens.length;
      expect(step.tokens.length).toBeLessThanOrEqual(16);
      expect(step.done).toBe(done);
    }
    expect(engine.memoryBytes).toBe(before);
  });

  it("the engine works with pointers above 2 GiB", async ({ skip }) => {
    let memory: WebAssembly.Memory;
    try {
      memory = new WebAssembly.Memory({ initial: pages(64 * megabyte), maximum: 65536 });
      memory.grow(pages(2300 * megabyte));
    } catch {
      return skip(); // there is no room for it here
    }
    const expected = write(await start(small(16 * megabyte)), "Once");
    let above = 0;
    const engine = await start(memory, async (options) => {
      const module = (await createModule(options)) as Allocator;
      while (above < 2 ** 31) above = module._gpt2_allocate(100 * megabyte) >>> 0;
      return module;
    });
    expect(write(engine, "Once")).toEqual(expected);
    expect(engine.tokenize("aaaaa", {})).toEqual([128, 97]);
    expect(engine.detokenize([128, 97])).toBe("aaaaa");
  });
});
