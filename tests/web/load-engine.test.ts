// Loading a model in the worker, with an engine that only records calls.
import { expect, it } from "vitest";
import { Gpt2Error, LoadError } from "../../web/src/shared/errors.js";
import type { ModelSource } from "../../web/src/model/sources/model-source.js";
import type { LoadRequest } from "../../web/src/shared/protocol.js";
import { MemorySource, type Files } from "./support/memory-source.js";
import { config, hub, indexed, load, piece, RecordedEngine, weights } from "./support/recorded-load.js";

it("loadEngine streams a folder with an index", async () => {
  const { engine, progress, fetched, loaded } = load({ request: { kv: "f32" } });
  const { info, measure, engine: made } = await loaded;
  expect(fetched).toEqual(["threads-relaxed"]);
  expect(engine.threads).toEqual([["threads-relaxed.js", { helper: 1 }]]);
  expect(engine.texts).toEqual([config, "{}", "m", '{"kv":"f32"}']);
  expect(engine.weights).toEqual([...weights]);
  expect(engine.calls).toEqual(["create 4", "drop", "load_end"]);
  expect(info).toEqual({
    source: null,
    threads: 4,
    kv: "q8",
    simd: "relaxed",
    variant: "threads-relaxed",
    memoryBytes: made.memoryBytes,
    notStored: null,
    notice: null,
    warnings: [],
  });
  expect(measure).toEqual({ measureAs: expect.stringContaining("4 cores") as string });
  expect(progress[0]).toMatchObject({ stage: "engine", loadedBytes: 0, totalBytes: 0 });
  expect(progress[1]).toMatchObject({ stage: "download", loadedBytes: 0, totalBytes: 10 });
  expect(progress.at(-2)).toMatchObject({ stage: "check", loadedBytes: 10, totalBytes: 10 });
  expect(progress.at(-1)).toMatchObject({ stage: "ready", loadedBytes: 10, totalBytes: 10 });
});

it("loadEngine can be aborted while the model is still being stored", async () => {
  const controller = new AbortController();
  const notStored = () => {
    controller.abort(new Error("enough"));
    return new Promise<null>(() => {});
  };
  const openSource = () => Object.assign(new MemorySource(indexed), { notStored });
  await expect(load({ signal: controller.signal, openSource }).loaded).rejects.toThrow("enough");
});

it("loadEngine runs a prompt through each layer that has arrived, and is ready after the last one", async () => {
  const { engine, progress, loaded } = load({ request: { prompt: "Once" } });
  await loaded;
  const layers = [1, 2, 3, 4, 5].map((layer) => `layer ${layer}`);
  expect(engine.calls).toEqual(["create 4", "prompt Once", ...layers, "drop", "load_end"]);
  const told = progress.filter(({ layer }) => layer).map(({ layer }) => layer);
  expect(told.at(0)).toEqual({ done: 1, total: 5 });
  expect(told.at(-1)).toEqual({ done: 5, total: 5 });
});

it("loadEngine runs no further once it is aborted", async () => {
  const controller = new AbortController();
  const { engine, loaded, progress } = load({
    request: { prompt: "Once" },
    signal: controller.signal,
    onLayer: () => controller.abort(),
  });
  await expect(loaded).rejects.toMatchObject({ name: "AbortError" });
  expect(engine.layersRun).toBe(1);
  expect(progress.at(-1)?.layer).toEqual({ done: 1, total: 5 });
  expect(engine.calls).not.toContain("load_end");
});

it("loadEngine passes on the engine before it is loaded, and stops if that aborts", async () => {
  const controller = new AbortController();
  const { engine, loaded } = load({
    signal: controller.signal,
    onEngine: (made) => {
      controller.abort(new Error("enough"));
      made.destroy();
    },
  });
  await expect(loaded).rejects.toThrow("enough");
  expect(engine.calls).toEqual(["create 4", "destroy"]);
  expect(engine.texts).toEqual([]);
});

it("loadEngine streams the single file of a folder without an index, whether or not the host states its size", async () => {
  for (const statesSize of [true, false]) {
    const { engine, progress, loaded } = load({ openSource: () => new MemorySource(hub, { statesSize }) });
    await loaded;
    expect(engine.weights).toEqual([...weights]);
    expect(engine.texts).toEqual([config, "", "", "{}"]);
    const totalBytes = statesSize ? 10 : 0;
    expect(progress.at(-1)).toMatchObject({ stage: "ready", loadedBytes: 10, totalBytes });
  }
});

it("loadEngine reports why a file is requested again, until its bytes arrive", async () => {
  const { progress, loaded } = load({
    openSource: (_, { onRetry }) => {
      onRetry("the host answered 503");
      onRetry(null);
      return new MemorySource(indexed);
    },
  });
  await loaded;
  const [begun] = progress;
  expect(begun).not.toHaveProperty("retry");
  expect(progress.slice(1, 3)).toEqual([{ ...begun, retry: "the host answered 503" }, begun]);
  expect(progress.at(-1)).not.toHaveProperty("retry");
});

it.each([
  ["a folder of floats", undefined, ["q8"]],
  ["a model that its source converts already", "q4", []],
] as const)("%s is converted during the load; the progress counts what arrives", async (_, weights, more) => {
  const openSource = ({ weights: wanted }: LoadRequest): ModelSource => {
    const inner = new MemorySource(hub);
    const made = { readBytes: 40, totalBytes: 40 };
    const open: ModelSource["open"] = async (...args) => ({ ...(await inner.open(...args)), made });
    return wanted ? { open, weights: wanted } : inner;
  };
  const { engine, progress, opened, request, loaded } = load({ openSource, request: { weights } });
  await loaded;
  expect(opened).toEqual([request, ...more.map((wanted) => ({ ...request, weights: wanted }))]);
  expect(engine.weights).toHaveLength(10);
  expect(progress.at(-1)).toMatchObject({ stage: "ready", loadedBytes: 40, totalBytes: 40 });
});

const broken = { ...indexed, "w.000": "no weights" };
const withOther = (another: NonNullable<ModelSource["another"]>) =>
  Object.assign(new MemorySource(broken), { another });

it("after a failed load of the host's newer version, the stored version is loaded", async () => {
  const { engine, opened, loaded } = load({ openSource: () => withOther(() => new MemorySource(indexed)) });
  await loaded;
  expect(opened).toHaveLength(1);
  expect(engine.weights.slice(-weights.length)).toEqual([...weights]);
});

it("a failed load starts again if the stored copy was damaged and has been removed", async () => {
  const sources = [withOther(() => "again"), new MemorySource(indexed)];
  const { engine, loaded } = load({ openSource: () => sources.shift() ?? new MemorySource({}) });
  await loaded;
  expect(sources).toEqual([]);
  expect(engine.weights.slice(-weights.length)).toEqual([...weights]);
});

it("a failed load fails if its alternative fails, too", async () => {
  const { loaded } = load({ openSource: () => withOther(() => new MemorySource(broken)) });
  await expect(loaded).rejects.toMatchObject({ code: "corrupt" });
});

const index = indexed["weights.json"];
const flip = (from: string | RegExp, to: string) => {
  const changed = index.replace(from, to);
  expect(changed).not.toBe(index);
  return changed;
};
const damagedHost = (damaged: string, afterReload: Files) =>
  new MemorySource({ ...indexed, "weights.json": damaged }, { afterReload });

it.each([
  ["a hash", flip(/(?<="sha256":\s*")[0-9a-f]/, "g")],
  ["another hash", flip(/(?<="sha256":\s*")[0-9a-f]{4}/, "beef")],
  ["a name", flip("w.001", "w.0p1")],
  ["the end", index.slice(0, -1)],
])("a damaged or changed weights.json is read again past all caches: %s", async (_, damaged) => {
  const source = damagedHost(damaged, indexed);
  const { engine, opened, loaded } = load({ openSource: () => source });
  await loaded;
  expect(opened).toHaveLength(2);
  expect(engine.weights.slice(-weights.length)).toEqual([...weights]);
});

it("after a damaged or changed weights.json, the engine of the first attempt is destroyed, even while it starts", async () => {
  const source = damagedHost(flip("w.000", "w.0p0"), indexed);
  const engines: unknown[] = [];
  let attempts = 0;
  const { engine, loaded } = load({
    openSource: () => source,
    onEngine: (made) => void engines.push(made),
    compile: async (_, signal) => {
      attempts += 1; // the first engine starts only after its load was given up
      if (attempts === 1) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  const last = (await loaded).engine;
  expect(engines.at(-1)).toBe(last);
  const lives = engine.calls.filter((call) => /^(create|destroy)/.test(call));
  expect(lives.map((call) => call.split(" ")[0])).toEqual(["create", "destroy", "create"]);
});

it("a damaged or changed weights.json is an error if its host has no other", async () => {
  const files = { ...indexed, "weights.json": flip("w.001", "w.0p1") };
  const source = new MemorySource(files);
  const { opened, loaded } = load({ openSource: () => source });
  await expect(loaded).rejects.toMatchObject({ code: "not-found", message: "there is no w.0p1" });
  expect(source.opened.filter(({ reload }) => reload)).toMatchObject([{ name: "weights.json" }]);
  expect(opened).toHaveLength(1);
});

const made = (to: string) => ({
  ...indexed,
  "config.json": JSON.stringify({ ...JSON.parse(config), quantization_config: { weights: to } }),
});

it.each([
  ["q8", "q8", undefined],
  ["f16", "f32", undefined],
  ["q8", "q4", "q8"],
  ["q4", "f32", "q4"],
  ["f16", "q8", "f32"],
] as const)("a model converted to %s is loaded as %s, or refused", async (to, wanted, refused) => {
  const { engine, loaded } = load({ files: made(to), request: { weights: wanted } });
  const outcome = await loaded.then(() => undefined).catch((error: unknown) => error);
  expect(engine.weights).toEqual(refused ? [] : [...weights]);
  if (!refused) return expect(outcome).toBeUndefined();
  expect(outcome).toMatchObject({
    code: "unsupported",
    message: `weights is "${wanted}", but the model is already converted to ${refused}: leave out the option, or load the original model`,
  });
});

const noWeights = "there is no weights.json; without it, there is no model.safetensors";
const needsBoth = (has: string, lacks: string) =>
  `the model has ${has}, but no ${lacks}: its tokenizer needs both`;
it.each([
  [{ "vocab.json": undefined }, "not-found", needsBoth("merges.txt", "vocab.json")],
  [{ "merges.txt": undefined }, "not-found", needsBoth("vocab.json", "merges.txt")],
  [{ "vocab.json": "" }, "corrupt", "vocab.json is empty"],
  [{ "merges.txt": "" }, "corrupt", "merges.txt is empty"],
  [{ "config.json": "{" }, "corrupt", "config.json is not valid JSON"],
  [{ "config.json": undefined }, "not-found", "there is no config.json"],
  [{ "weights.json": undefined }, "not-found", noWeights],
  [{ "weights.json": "" }, "corrupt", "weights.json is not valid JSON"],
  [{ "w.001": weights.subarray(0, 4) }, "corrupt", "w.001 has SHA-256"],
])("loadEngine refuses a folder with %j", async (changed, code, message) => {
  const { engine, loaded } = load({ files: { ...indexed, ...changed } });
  await expect(loaded).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string });
  expect(engine.calls).not.toContain("load_end");
});

it.each([indexed, hub])("loadEngine passes on the engine's error while a file streams", async (files) => {
  const engine = new RecordedEngine();
  engine.refusal = new Gpt2Error("unsupported", "tensor h.0.x has type F64");
  await expect(load({ engine, files }).loaded).rejects.toMatchObject({
    code: "unsupported",
    message: "tensor h.0.x has type F64",
  });
  expect(engine.calls).not.toContain("load_end");
});

const defaults = '{"temperature": 0.5}';
const withIndex = (version: object) => ({
  ...indexed,
  "generation_config.json": defaults,
  "weights.json": JSON.stringify({ ...(JSON.parse(indexed["weights.json"]) as object), ...version }),
});
const listed = piece(new TextEncoder().encode(defaults), "generation_config.json");
const given = JSON.stringify({ generationConfig: defaults });

it.each([
  ["listed in the index", withIndex({ version: 2, files: [listed] }), given],
  ["beside an index that lists no files", withIndex({}), given],
  ["beside weights without an index", { ...hub, "generation_config.json": defaults }, given],
  ["not listed in the index", withIndex({ version: 2, files: [] }), "{}"],
])("the model's own defaults reach the engine unless the index omits them: %s", async (_, files, last) => {
  const { engine, loaded } = load({ files });
  await loaded;
  expect(engine.texts[3]).toBe(last);
});

it("loadEngine measures no threads if their number is known, or if there is only one, and says why", async () => {
  const known = await load({ request: { threads: 3 } }).loaded;
  const single = await load({ features: { threads: false, isIsolated: false } }).loaded;
  expect([known.measure, single.measure]).toEqual([undefined, undefined]);
  expect(single.info.notice).toContain("cross-origin isolated");
});

it("loadEngine continues without failed threads, reports them, and stores no measurement", async () => {
  const engine = new RecordedEngine();
  engine.startedThreads = 3;
  const { info, measure } = await load({ engine, failed: 1 }).loaded;
  expect(info.notice).toContain("3 of 4 threads");
  expect(info.threads).toBe(3);
  expect(measure).toEqual({ measureAs: undefined });
  expect(engine.calls).toContain("drop");
});

it("loadEngine takes one thread if the builds with more do not compile", async () => {
  const engine = new RecordedEngine();
  engine.startedThreads = 1;
  const compile = async (variant: string) => {
    if (variant.startsWith("threads")) throw new LoadError("unsupported", `no ${variant}`);
  };
  const { fetched, loaded } = load({ engine, compile });
  const { info, measure } = await loaded;
  expect(fetched).toEqual(["threads-relaxed", "threads", "simd"]);
  expect(info).toMatchObject({ variant: "simd", notice: expect.stringContaining("on one thread") as string });
  expect(measure).toBeUndefined();
  expect(engine.calls).toEqual(["create 1", "drop", "load_end"]);
});

it("loadEngine refuses an unsupported browser before it fetches anything", async () => {
  const { fetched, loaded } = load({ features: { simd: false } });
  await expect(loaded).rejects.toMatchObject({ code: "unsupported" });
  expect(fetched).toEqual([]);
});
