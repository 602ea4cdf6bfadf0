// The progress of a load, and the error for a model without readable weights.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { readText } from "../../web/src/model/sources/read-text.js";
import { LoadError } from "../../web/src/shared/errors.js";
import type { LoadProgress } from "../../web/src/shared/types.js";
import { Adapter } from "../../web/src/model/sources/adapter.js";
import { ConvertibleSource } from "../../web/src/model/sources/convertible-source.js";
import { withoutWeights } from "../../web/src/model/sources/other-weights.js";
import { packConverter } from "./support/converter-code.js";
import { MemorySource, type Files } from "./support/memory-source.js";
import { reportTo } from "../../web/src/worker/load-report.js";

describe("progress", () => {
  let told: LoadProgress[];
  let report: ReturnType<typeof reportTo>;
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000_000 });
    vi.advanceTimersByTime(60_000);
    told = [];
    report = reportTo((progress) => told.push(progress));
  });
  const last = () => told.at(-1);

  it("the progress of a load begins with the engine, and is reported at most twenty times a second and at the end", () => {
    report.set({ totalBytes: 1000 });
    expect(last()).toEqual({
      stage: "engine",
      loadedBytes: 0,
      totalBytes: 1000,
      bytesPerSecond: 0,
      secondsLeft: null,
      source: "network",
    });
    report.onBytes(100, "cache");
    expect(last()).toMatchObject({ stage: "download", loadedBytes: 100, totalBytes: 1000, source: "cache" });
    vi.advanceTimersByTime(49);
    report.onBytes(200, "network");
    report.onBytes(300, "network");
    expect(told).toHaveLength(2);
    vi.advanceTimersByTime(49);
    expect(told).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(told).toHaveLength(3);
    expect(last()).toMatchObject({ loadedBytes: 300, source: "network" });
    vi.advanceTimersByTime(1000);
    expect(told).toHaveLength(3);
    report.onBytes(400, "network");
    vi.advanceTimersByTime(10);
    report.onBytes(500, "network");
    vi.advanceTimersByTime(40);
    report.onBytes(600, "network");
    vi.advanceTimersByTime(50);
    expect(told.slice(3).map(({ loadedBytes }) => loadedBytes)).toEqual([400, 600]);
    report.onBytes(900, "network");
    report.onBytes(1000, "network"); // all: at once
    expect(last()).toMatchObject({ stage: "check", loadedBytes: 1000 });
  });

  /** The rate and the remaining time once `bytes` have arrived, `ms` later. */
  const go = (ms: number, bytes: number) => {
    vi.advanceTimersByTime(ms);
    report.onBytes(bytes, "network");
    return [last()?.bytesPerSecond, last()?.secondsLeft];
  };

  it("the rate of a load is that of the last three seconds, once it is reliable", () => {
    report.set({ totalBytes: 100_000 });
    report.beginRate();
    expect(go(100, 0)).toEqual([0, null]);
    expect(go(199, 1990)).toEqual([0, null]);
    expect(go(51, 2500)).toEqual([10_000, 9.75]);
    expect(go(2750, 30_000)).toEqual([10_000, 7]);
    expect(go(500, 60_000)[0]).toBeCloseTo(60_000 / 3.5);
    expect(go(500, 70_000)[0]).toBeCloseTo((70_000 - 1990) / 3.801, 5);
    expect(go(500, 10)[0]).toBe(0); // the estimate starts again
  });

  it("while other files share the connection, the rate of a load is unknown", () => {
    report.set({ totalBytes: 100_000 });
    expect(go(1000, 1000)).toEqual([0, null]);
    expect(go(1000, 2000)).toEqual([0, null]);
    report.beginRate();
    expect(go(1000, 10_000)).toEqual([0, null]);
    expect(go(1000, 20_000)).toEqual([10_000, 8]);
  });

  it("the progress of a load has no total if the host states none, and a larger total if the host sends more", () => {
    report.beginRate();
    report.onBytes(100, "network");
    vi.advanceTimersByTime(1000);
    report.onBytes(1100, "network");
    expect(last()).toMatchObject({
      totalBytes: 0,
      bytesPerSecond: 1000,
      secondsLeft: null,
      stage: "download",
    });
    report.set({ totalBytes: 2000 });
    vi.advanceTimersByTime(1000);
    report.onBytes(3000, "network");
    expect(last()).toMatchObject({ totalBytes: 3000, stage: "check" });
  });
});

const missing = new LoadError("not-found", "no model.safetensors");
const { signal } = new AbortController();
const of = (files: string[] | undefined, id?: string) =>
  withoutWeights({ id, open: vi.fn(), list: async () => files }, missing, signal);

it.each([
  ["tf_model.h5", ", from_tf=True"],
  ["flax_model.msgpack", ", from_flax=True"],
])("the error for a model of %s alone has the line that converts it", async (file, argument) => {
  for (const [id, name] of [
    ["hf:owner/name@v1", "owner/name"],
    ["https://hub.example/owner/name@main", "owner/name"],
    [undefined, "FOLDER"],
  ] as const) {
    const error = await of(["config.json", file], id);
    expect(error.code).toBe("unsupported");
    expect(error.message).toBe(
      `${name} has its weights only in ${file}, which a page cannot load safely. Convert them to model.safetensors with Python: python3 -c 'from transformers import GPT2LMHeadModel as M; M.from_pretrained("${name}"${argument}).save_pretrained("FOLDER")'`,
    );
  }
});

it("the error names the GGUF files to choose from", async () => {
  const error = await of(["a.gguf", "b.GGUF", "c.gguf.txt"], "hf:owner/name@v1");
  expect([error.code, error.message]).toEqual([
    "not-found",
    "owner/name has no model.safetensors, but a.gguf, b.GGUF: give the address of one of them",
  ]);
});

const others = ["config.json", "pytorch_model.bin", "tf_model.h5.txt", "x"];
it.each<[string[] | undefined]>([[others], [undefined]])("a model of %j is not found", async (files) => {
  expect(await of(files, "hf:a/b")).toBe(missing);
  expect(await withoutWeights({ open: vi.fn() }, missing, signal)).toBe(missing);
});

describe("a model that must be converted", () => {
  const sourceOf = (files: Files, more: object = {}) => {
    const list = async () => Object.keys(files);
    return Object.assign(new MemorySource(files), { id: "hf:a/b@c", list }, more);
  };
  const options = { weights: "q8" as const };

  it("a model that needs a conversion is read unchanged after it was converted", async () => {
    const version = vi.fn(async () => "v");
    const files = { "weights.json": "{}", "config.json": "mine", "tokenizer.json": "{}" };
    const source = new ConvertibleSource(sourceOf(files, { version }), options);
    expect(await readText(source, "config.json", signal)).toBe("mine");
    expect([source.id, source.weights]).toEqual(["hf:a/b@c", "q8"]);
    expect(await source.version?.(signal)).toBe("v");
    expect(new ConvertibleSource(sourceOf({}), options).version).toBeUndefined();
    await expect(source.open("model.safetensors", { signal })).rejects.toThrow("no model.safetensors");
    expect(await readText(source, "tokenizer.json", signal)).toBe("{}");
  });

  it.each([
    ['{"quantization_config": {"weights": "q4"}}', true],
    ['{"quantization_config": null}', true], // the engine reports what is wrong
    ["{}", false],
    ["{", false],
  ])(
    "without weights.json, config.json says whether a model is converted: %s",
    async (config, isConverted) => {
      packConverter();
      const inner = sourceOf({ "config.json": config, "model.safetensors": "mine" });
      const reading = readText(new ConvertibleSource(inner, options), "model.safetensors", signal);
      if (isConverted) expect(await reading).toBe("mine");
      else await expect(reading).rejects.toThrow(/model.safetensors|config.json/);
      const merged = new ConvertibleSource(inner, { ...options, adapters: [new Adapter(sourceOf({}), 1)] });
      const refusal = isConverted ? "that is not converted yet" : "no adapter_config.json";
      await expect(merged.open("config.json", { signal })).rejects.toThrow(refusal);
    },
  );

  it("a model that needs a conversion reports what is missing or damaged", async () => {
    packConverter();
    const without = new ConvertibleSource(sourceOf({ "tf_model.h5": "x", "config.json": "{}" }), options);
    await expect(without.open("weights.json", { signal })).rejects.toMatchObject({ code: "not-found" });
    await expect(without.open("model.safetensors", { signal })).rejects.toThrow("only in tf_model.h5");
    await expect(without.open("vocab.json", { signal })).rejects.toThrow("no vocab.json");
    const damaged = new LoadError("network", "weights.json is broken");
    const broken = new ConvertibleSource(sourceOf({ "weights.json": damaged }), options);
    await expect(broken.open("config.json", { signal })).rejects.toBe(damaged);
    const gguf = new ConvertibleSource(sourceOf({ "weights.json": "{}" }), { ...options, gguf: "a.gguf" });
    await expect(gguf.open("config.json", { signal })).rejects.toThrow("no a.gguf");
    const defaults = gguf.open("generation_config.json", { signal });
    await expect(defaults).rejects.toThrow("no generation_config.json");
  });
});
