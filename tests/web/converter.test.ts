// The module that converts, in Node, compared with `gpt2-weights convert` on the same models. The steps `native`
// and `wasm` of `npm test` build both.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { bytesOf } from "../../web/src/cache/store.js";
import { ConvertedSource } from "../../web/src/convert/converted-source.js";
import { Converter, type ConvertedWeights } from "../../web/src/convert/converter.js";
import type { ModuleFactory } from "../../web/src/shared/wasm-instance.js";
import { createModule } from "../../web/src/shared/wasm-module.js";
import { chunksOf, type ModelSource } from "../../web/src/loader/model-source.js";
import { readText } from "../../web/src/loader/read-text.js";
import { LoadError } from "../../web/src/shared/errors.js";
import { failureOf } from "../../web/src/shared/failures.js";
import { json, scratch, tiny } from "../weights_tools/tool.js";
import {
  blockTypes,
  ggufMetadata,
  ggufName,
  ggufTensors,
  makeTensor,
  randomFrom,
  valuesOf,
  writeGguf,
  type BlockType,
  type GgufTensor,
  type Metadata,
  type Vocabulary,
} from "./support/gguf.js";
import { converterCode } from "./support/converter-code.js";
import { filesOf, makeAdapter, merge, randomTensor } from "./support/adapter.js";
import { readSafetensors, writeSafetensors, type Tensor } from "./support/safetensors.js";

const formats: ConvertedWeights[] = ["f32", "f16", "q8", "q4"];
const models = readdirSync(tiny);
const { signal } = new AbortController();

let code: WebAssembly.Module;

beforeAll(async () => {
  code = await WebAssembly.compile(converterCode);
});

const hubFile = (model: string) => readFileSync(join(tiny, model, "model.safetensors"));
const configOf = (model: string) => readFileSync(join(tiny, model, "config.json"), "utf8");

interface Folder {
  config: string;
  tensors: Map<string, Tensor>;
}

/** Type, shape and hash of each tensor, by name: the order differs. */
const digests = (tensors: Map<string, Tensor>) =>
  [...tensors]
    .map(([name, { dtype, shape, bytes }]) =>
      [name, dtype, shape.join(), createHash("sha256").update(bytes).digest("hex")].join(" "),
    )
    .sort();

/** The native tool's output for it. */
function natively(model: string, weights: ConvertedWeights): Folder {
  const out = join(scratch, `${model}-${weights}`);
  json([
    "convert",
    join(tiny, model),
    out,
    "--weights",
    weights,
    "--calibration-tokens",
    "0",
    "--force",
    "--json",
  ]);
  const pieces = readdirSync(out).filter((name) => name.startsWith("model.safetensors"));
  const file = Buffer.concat(pieces.sort().map((name) => readFileSync(join(out, name))));
  return { config: readFileSync(join(out, "config.json"), "utf8"), tensors: readSafetensors(file) };
}

/** Chunks of up to `most` bytes, of sizes that look random and are the same each time. */
function* cut(bytes: Buffer, most: number): Generator<Buffer> {
  let state = 1;
  for (let at = 0; at < bytes.length;) {
    state = (state * 48271) % 2147483647;
    const end = at + 1 + (state % most);
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** The output for a chunk. Each part is copied before it is overwritten. */
const feed = (converter: Converter, chunk: Uint8Array) =>
  Array.from(converter.feed(chunk), (part) => part.slice());

async function convert(
  config: string,
  files: Buffer[],
  weights: ConvertedWeights,
  most = 1 << 20,
): Promise<Folder & { file: Buffer }> {
  const converter = await Converter.create(code);
  converter.begin({ weights, config, heads: files.length > 1 ? files : undefined });
  const parts: Uint8Array[] = [];
  for (const file of files) {
    for (const chunk of cut(file, most)) parts.push(...feed(converter, chunk));
  }
  converter.end();
  const file = Buffer.concat(parts);
  expect(converter.folder?.weightBytes).toBe(file.length);
  return { config: converter.folder?.config ?? "", tensors: readSafetensors(file), file };
}

/** `tensors` with all values as bfloat16, cut off. */
function asBFloat16(tensors: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  return new Map(
    [...tensors].map(([name, { dtype, shape, bytes }]) => {
      if (dtype !== "F32") return [name, { dtype, shape, bytes }];
      const upper = Buffer.concat(
        Array.from({ length: bytes.length / 4 }, (_, i) => bytes.subarray(4 * i + 2, 4 * i + 4)),
      );
      return [name, { dtype: "BF16", shape, bytes: upper }];
    }),
  );
}

describe("Converter", () => {
  it.each(models.flatMap((model) => formats.map((weights) => [model, weights] as const)))(
    "the converter turns %s into the same %s as the native tool",
    async (model, weights) => {
      const expected = natively(model, weights);
      const found = await convert(configOf(model), [hubFile(model)], weights, 5000);
      expect(JSON.parse(found.config)).toEqual(JSON.parse(expected.config));
      expect(digests(found.tensors)).toEqual(digests(expected.tensors));
    },
  );

  it.each([1, 7, 300_000])("the converter gives the same bytes for chunks of up to %d", async (most) => {
    const expected = (await convert(configOf("tied"), [hubFile("tied")], "q4")).file;
    expect((await convert(configOf("tied"), [hubFile("tied")], "q4", most)).file.equals(expected)).toBe(true);
  });

  it("the converter reads bfloat16", async () => {
    const tensors = asBFloat16(readSafetensors(hubFile("tied")));
    const { tensors: found } = await convert(configOf("tied"), [writeSafetensors(tensors)], "f32");
    for (const { bytes } of found.values()) {
      expect(bytes.every((byte, i) => i % 4 > 1 || byte === 0)).toBe(true);
    }
  });

  it("the converter reads several files one after another like a single file", async () => {
    const tensors = [...readSafetensors(hubFile("tied"))];
    const half = Math.floor(tensors.length / 2);
    const files = [tensors.slice(0, half), tensors.slice(half)].map((part) =>
      writeSafetensors(new Map(part)),
    );
    const expected = await convert(configOf("tied"), [writeSafetensors(new Map(tensors))], "q8");
    const found = await convert(configOf("tied"), files, "q8", 3000);
    expect(found.file.equals(expected.file)).toBe(true);
  });

  it("the converter holds at most one tensor, and can be used again", async () => {
    const converter = await Converter.create(code);
    const before = converter.memoryBytes;
    for (let i = 0; i < 3; ++i) {
      converter.begin({ weights: "q8", config: configOf("tied") });
      expect(converter.folder).toBeUndefined();
      feed(converter, hubFile("tied"));
      converter.end();
    }
    expect(converter.memoryBytes - before).toBeLessThan(2 << 20);
  });

  const damages: [string, (file: Buffer) => Buffer, RegExp][] = [
    ["ends early", (file) => file.subarray(0, -5), /model\.safetensors: it ends inside tensor "/],
    ["ends in its header", (file) => file.subarray(0, 100), /it ends after 100 bytes of its header/],
    ["is too long", (file) => Buffer.concat([file, Buffer.alloc(9)]), /9 bytes follow the last tensor/],
    ["is a web page", () => Buffer.from("<!doctype html><title>404</title>"), /header length/],
    [
      "has a value that is not finite",
      (file) => (file.writeUInt32LE(0x7f800000, file.length - 4), file),
      /tensor ".*" row \d+: a value that is not finite/,
    ],
  ];
  it.each(damages)("the converter refuses a file that %s", async (_, damage, message) => {
    const attempt = convert(configOf("tied"), [damage(hubFile("tied"))], "q8");
    await expect(attempt).rejects.toMatchObject({ name: "LoadError", code: "corrupt" });
    await expect(convert(configOf("tied"), [damage(hubFile("tied"))], "q8")).rejects.toThrow(message);
  });

  it("the converter refuses a quantized model, and a file that changes after its header was read", async () => {
    const { config, file } = await convert(configOf("tied"), [hubFile("tied")], "q8");
    await expect(convert(config, [file], "q4")).rejects.toThrow("the model is already converted to q8");
    const tensors = [...readSafetensors(hubFile("tied"))];
    const files = [tensors.slice(0, 3), tensors.slice(3)].map((part) => writeSafetensors(new Map(part)));
    const converter = await Converter.create(code);
    converter.begin({ weights: "q8", config: configOf("tied"), heads: files });
    feed(converter, files[0] ?? Buffer.alloc(0));
    expect(() => feed(converter, files[0] ?? Buffer.alloc(0))).toThrow(
      /file 2 of 2 has changed since its header was read/,
    );
  });
});

class MemorySource implements ModelSource {
  readonly opened: string[] = [];
  /** The files that were opened elsewhere than at their beginning, and where. */
  readonly begun: { name: string; from: number }[] = [];
  private readonly files: Record<string, Buffer | string>;
  constructor(files: Record<string, Buffer | string>) {
    this.files = files;
  }
  async open(name: string, { from = 0 }: { from?: number }) {
    this.opened.push(name);
    if (from > 0) this.begun.push({ name, from });
    const bytes = this.files[name];
    if (bytes === undefined) throw new LoadError("not-found", `there is no ${name}`);
    const blob = new Blob([typeof bytes === "string" ? bytes : new Uint8Array(bytes)]);
    return { size: from > 0 ? undefined : blob.size, stream: blob.slice(from).stream() };
  }
}

describe("ConvertedSource", () => {
  const whole = async (source: ModelSource) => {
    const { size, stream } = await source.open("model.safetensors", { signal });
    const bytes = Buffer.from(await bytesOf(stream));
    expect(bytes.length).toBe(size);
    return bytes;
  };
  const options = { weights: "q8" as const, createConverter: () => Converter.create(code) };
  const restOf = async (source: ModelSource, from: number) => {
    const { size, stream, made } = await source.open("model.safetensors", { signal, from });
    return { size, made, bytes: Buffer.from(await bytesOf(stream)) };
  };

  it.each(models)(
    "a converted source resumes at any byte of the %s result, and reads no tensor that is already complete",
    async (model) => {
      for (const weights of ["q8", "q4", "f32"] as const) {
        const { file } = await convert(configOf(model), [hubFile(model)], weights);
        for (const share of [0, 0.2, 0.55, 0.9, 1]) {
          const from = Math.max(1, Math.floor(file.length * share));
          const inner = new MemorySource({
            "config.json": configOf(model),
            "model.safetensors": hubFile(model),
          });
          const source = new ConvertedSource(inner, { ...options, weights });
          await readText(source, "config.json", signal); // which reads from the beginning
          const { size, made, bytes } = await restOf(source, from);
          expect(size).toBe(file.length);
          expect(bytes.equals(file.subarray(from))).toBe(true);
          const [begun] = inner.begun;
          expect(begun?.from).toBeGreaterThan((hubFile(model).length - 1000) * (share - 0.3));
          expect(made).toEqual({ readBytes: hubFile(model).length, totalBytes: hubFile(model).length });
        }
      }
    },
  );

  it("a converted source acts as a converted folder, read in any order and repeatedly", async () => {
    const expected = await convert(configOf("tied"), [hubFile("tied")], "q8");
    const inner = new MemorySource({
      "config.json": configOf("tied"),
      "model.safetensors": hubFile("tied"),
      "vocab.json": "{}",
    });
    const source = new ConvertedSource(inner, options);
    expect(await readText(source, "config.json", signal)).toBe(expected.config);
    expect(await readText(source, "vocab.json", signal)).toBe("{}");
    await expect(source.open("merges.txt", { signal })).rejects.toMatchObject({ code: "not-found" });
    await expect(source.open("weights.json", { signal })).rejects.toMatchObject({ code: "not-found" });
    expect((await whole(source)).equals(expected.file)).toBe(true);
    expect(inner.opened.filter((name) => name === "model.safetensors")).toHaveLength(1);
    expect((await whole(source)).equals(expected.file)).toBe(true);
  });

  it("a converted source finds all shards of model.safetensors", async () => {
    const tensors = [...readSafetensors(hubFile("tied"))];
    const [first, second] = [tensors.slice(0, 4), tensors.slice(4)];
    const names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    const weight_map = Object.fromEntries(tensors.map(([name], i) => [name, names[i < 4 ? 0 : 1] ?? ""]));
    const inner = new MemorySource({
      "config.json": configOf("tied"),
      "model.safetensors.index.json": JSON.stringify({ metadata: {}, weight_map }),
      [names[0] ?? ""]: writeSafetensors(new Map(first)),
      [names[1] ?? ""]: writeSafetensors(new Map(second)),
    });
    const expected = await convert(configOf("tied"), [writeSafetensors(new Map(tensors))], "q8");
    expect((await whole(new ConvertedSource(inner, options))).equals(expected.file)).toBe(true);
    const from = expected.file.length - 100;
    const { bytes } = await restOf(new ConvertedSource(inner, options), from);
    expect(bytes.equals(expected.file.subarray(from))).toBe(true);
    expect(inner.begun).toMatchObject([{ name: names[1] }]);
  });

  it("a converted source names the missing file", async () => {
    const inner = new MemorySource({ "config.json": configOf("tied") });
    await expect(new ConvertedSource(inner, options).open("config.json", { signal })).rejects.toThrow(
      "there is no model.safetensors",
    );
  });
});

describe("a LoRA adapter", () => {
  const tensors = readSafetensors(hubFile("tied"));
  const adapter = makeAdapter(tensors);
  const asFiles = (made: typeof adapter, weight = 1) => {
    const files = filesOf(made);
    const bytes = new Uint8Array(files["adapter_model.safetensors"] ?? []);
    return { name: "a", config: String(files["adapter_config.json"]), tensors: bytes, weight };
  };
  const sourceOf = (adapters: ReturnType<typeof asFiles>[]) => {
    const inner = new MemorySource({ "config.json": configOf("tied"), "model.safetensors": hubFile("tied") });
    const merged = adapters.map((files) => ({ files: async () => files }));
    return new ConvertedSource(inner, {
      weights: "q8",
      createConverter: () => Converter.create(code),
      adapters: merged,
    });
  };
  const read = async (source: ConvertedSource, from = 0) =>
    Buffer.from(await bytesOf((await source.open("model.safetensors", { signal, from })).stream));

  it("a LoRA adapter is merged into the floats with its weight, bit-identical to its definition", async () => {
    for (const weights of [1, -0.3]) {
      const merged = writeSafetensors(merge(tensors, adapter, weights));
      const expected = await convert(configOf("tied"), [merged], "q8");
      const found = readSafetensors(await read(sourceOf([asFiles(adapter, weights)])));
      expect(digests(found)).toEqual(digests(expected.tensors));
    }
  });

  it("an adapter with a head of its own unties the model; its conversion resumes at any byte", async () => {
    const config = { ...adapter.config, modules_to_save: ["lm_head"] };
    const head = randomTensor([160, 64], randomFrom(3));
    const own = { config, tensors: new Map([...adapter.tensors, ["base_model.model.lm_head.weight", head]]) };
    const source = sourceOf([asFiles(own)]);
    const whole = await read(source);
    expect(readSafetensors(whole).get("lm_head.weight")?.shape).toEqual([160, 64]);
    for (const share of [0.01, 0.4, 0.8, 0.95, 0.999]) {
      const from = Math.floor(whole.length * share);
      expect((await read(sourceOf([asFiles(own)]), from)).equals(whole.subarray(from))).toBe(true);
    }
  });

  it("an adapter that cannot be merged is refused by name; the converter still works", async () => {
    const bad = { ...asFiles(adapter), config: "{}", name: "hf:user/lora@main" };
    await expect(read(sourceOf([asFiles(adapter), bad]))).rejects.toMatchObject({
      code: "corrupt",
      message: 'hf:user/lora@main: adapter_config.json: "peft_type" is missing',
    });
    const converter = await Converter.create(code);
    const conversion = { weights: "q8" as const, config: configOf("tied") };
    expect(() => converter.begin({ ...conversion, adapters: [asFiles(adapter), bad] })).toThrow("peft_type");
    converter.begin(conversion);
    const parts = feed(converter, hubFile("tied"));
    converter.end();
    expect(Buffer.concat(parts).equals((await convert(configOf("tied"), [hubFile("tied")], "q8")).file)).toBe(
      true,
    );
  });
});

describe("a tokenizer in files other than vocab.json and merges.txt", () => {
  const texts = { "vocab.json": '{"a":0,"<end>":1}', "merges.txt": "#version: 0.2\n" };
  const read = async (config: object) =>
    (await Converter.create(code)).readTokenizer(
      { ...texts, "tokenizer_config.json": JSON.stringify(config) },
      2,
    );

  it("a tokenizer in other files is read for the engine as rules", async () => {
    const { vocab, merges, rules } = await read({ add_bos_token: true, bos_token: "<end>" });
    expect({ "vocab.json": vocab, "merges.txt": merges }).toEqual(texts);
    expect(rules).toMatchObject({ beginning: [1], end: [] });
  });

  it("a tokenizer that cannot be computed is refused, and the error names the file and the field", async () => {
    await expect(read({ add_eos_token: true })).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/^tokenizer_config\.json: "add_eos_token"/) as string,
    });
  });
});

describe("errors during a conversion", () => {
  type Exports = Record<string, (...args: number[]) => number>;
  const trap = () => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  /** Replaces `export` by `instead` after `good` calls. */
  const spoiled =
    (name: string, good: number, instead: (exports: Exports, args: number[]) => number): ModuleFactory =>
    async (options) => {
      const exports = (await createModule(options)) as Exports;
      let calls = 0;
      const spoil = (...args: number[]) => {
        calls += 1;
        return calls > good ? instead(exports, args) : (exports[name]?.(...args) ?? 0);
      };
      return { ...exports, [name]: spoil };
    };
  const takeAllMemory = (
    { _gpt2_allocate: allocate, _gpt2_converter_feed: feed }: Exports,
    args: number[],
  ) => {
    for (const bytes of [1 << 20, 1 << 12, 64]) while (allocate?.(bytes));
    return feed?.(...args) ?? 0;
  };

  it.each([
    [
      "a trap in the head",
      "_gpt2_converter_feed",
      0,
      trap,
      "worker-died",
      /^the engine failed \(unreachable\)/,
    ],
    [
      "a trap behind it",
      "_gpt2_converter_feed",
      1,
      trap,
      "worker-died",
      /^the engine failed \(unreachable\)/,
    ],
    [
      "a trap at the end",
      "_gpt2_converter_end",
      0,
      trap,
      "worker-died",
      /^the engine failed \(unreachable\)/,
    ],
    ["no converter", "_gpt2_converter_create", 0, () => 0, "out-of-memory", /^no memory for a converter$/],
    ["no room for bytes", "_gpt2_allocate", 0, () => 0, "out-of-memory", /^no memory for \d+ bytes$/],
    ["no memory in the head", "_gpt2_converter_feed", 0, takeAllMemory, "out-of-memory", /memory/],
    ["no memory behind it", "_gpt2_converter_feed", 1, takeAllMemory, "out-of-memory", /memory/],
  ] as const)(
    "an error during a conversion keeps its name: %s",
    async (_, name, good, instead, errorCode, message) => {
      vi.resetModules(); // as in the worker, where the converter's chunk has its own copies of the classes
      const chunk = {
        ...(await import("../../web/src/convert/converted-source.js")),
        ...(await import("../../web/src/convert/converter.js")),
      };
      const { Memory } = WebAssembly;
      class SmallMemory extends Memory {
        constructor(descriptor: WebAssembly.MemoryDescriptor) {
          super({ ...descriptor, maximum: 256 }); // pages: 16 MiB
        }
      }
      Object.assign(WebAssembly, { Memory: SmallMemory });
      try {
        const inner = new MemorySource({
          "config.json": configOf("tied"),
          "model.safetensors": hubFile("tied"),
        });
        const source = new chunk.ConvertedSource(inner, {
          weights: "q8",
          createConverter: () => chunk.Converter.create(code, spoiled(name, good, instead)),
        });
        const read = async () => {
          const file = await source.open("model.safetensors", { signal });
          for await (const _ of chunksOf(file, "model.safetensors", signal));
        };
        const failure = failureOf(await read().catch((error: unknown) => error));
        expect(failure).toMatchObject({ code: errorCode, message: expect.stringMatching(message) as string });
      } finally {
        Object.assign(WebAssembly, { Memory });
      }
    },
  );
});

const types = Object.keys(blockTypes) as BlockType[];
/** Wide enough for a K block. The types are given by name; all other tensors are F32. */
const wide = {
  model_type: "gpt2",
  n_embd: 256,
  n_head: 4,
  n_layer: 1,
  n_positions: 16,
  n_inner: 512,
  vocab_size: 40,
  layer_norm_epsilon: 1e-5,
};
const vocabulary: Vocabulary = {
  vocab: Object.fromEntries([
    ...Array.from({ length: 32 }, (_, i) => [String.fromCharCode(65 + i), i] as const),
    ["AB", 32],
    ["ABC", 33],
    ["<|endoftext|>", 34],
  ]),
  merges: ["A B", "AB C"],
};

/** A hub's tensors of a config, of values that look random. */
function hubTensors(config: typeof wide, isTied = true): Map<string, Tensor> {
  const next = randomFrom(11);
  const { n_embd: width, n_inner: inner, vocab_size, n_positions } = config;
  const shapes: [string, number[]][] = [
    ["wte.weight", [vocab_size, width]],
    ["wpe.weight", [n_positions, width]],
  ];
  for (let i = 0; i < config.n_layer; ++i) {
    shapes.push(
      ...(
        [
          ["ln_1", [width]],
          ["attn.c_attn", [width, 3 * width]],
          ["attn.c_proj", [width, width]],
          ["ln_2", [width]],
          ["mlp.c_fc", [width, inner]],
          ["mlp.c_proj", [inner, width]],
        ] as [string, number[]][]
      ).flatMap(([name, shape]): [string, number[]][] => [
        [`h.${i}.${name}.weight`, shape],
        [`h.${i}.${name}.bias`, shape.slice(-1)],
      ]),
    );
  }
  shapes.push(["ln_f.weight", [width]], ["ln_f.bias", [width]]);
  if (!isTied) shapes.push(["lm_head.weight", [vocab_size, width]]);
  return new Map(
    shapes.map(([name, shape]) => {
      const values = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => next() / 8 - 1 / 16);
      return [name, { dtype: "F32", shape, bytes: Buffer.from(values.buffer) }];
    }),
  );
}

/** The safetensors file with the values of a GGUF file's tensors, as the hub would store it. */
function asHubFile(config: typeof wide, tensors: ReadonlyMap<string, GgufTensor>): Buffer {
  const made = new Map<string, Tensor>();
  for (const [name, { shape }] of hubTensors(config, !tensors.has("output.weight"))) {
    const tensor = tensors.get(ggufName(name));
    if (!tensor) throw new Error(name);
    let values = valuesOf(tensor);
    const [inputs = 1, outputs = 1] = shape;
    if (/\.c_\w+\.weight$/.test(name)) {
      const rows = values;
      values = new Float32Array(rows.length);
      for (let o = 0; o < outputs; ++o) {
        for (let i = 0; i < inputs; ++i) values[i * outputs + o] = rows[o * inputs + i] ?? 0;
      }
    }
    made.set(name, { dtype: "F32", shape, bytes: Buffer.from(values.buffer) });
  }
  return writeSafetensors(made);
}

async function convertGguf(file: Buffer, weights: ConvertedWeights, most = 1 << 20) {
  const converter = await Converter.create(code);
  converter.begin({ weights });
  const parts: Uint8Array[] = [];
  for (const chunk of cut(file, most)) parts.push(...feed(converter, chunk));
  converter.end();
  const { folder } = converter;
  if (!folder) throw new Error("no folder");
  return { folder, tensors: readSafetensors(Buffer.concat(parts)) };
}

/** A GGUF file whose matrices are of `type`, and the hub's file of the same values. */
function makePair(type: BlockType, isTied = true) {
  const tensors = ggufTensors(hubTensors(wide, isTied), () => type);
  const config = JSON.stringify({ ...wide, tie_word_embeddings: isTied });
  return { file: writeGguf(ggufMetadata(wide, vocabulary), tensors), config, hub: asHubFile(wide, tensors) };
}

describe("a GGUF file", () => {
  it.each(types)("a GGUF file of %s converts to the same as a Hub file with its values", async (type) => {
    const { file, config, hub } = makePair(type);
    for (const weights of type === "Q4_K" ? formats : (["f32"] as const)) {
      const expected = await convert(config, [hub], weights);
      expect(digests((await convertGguf(file, weights, 3000)).tensors)).toEqual(digests(expected.tensors));
    }
  });

  it("a GGUF file contains its config and its tokenizer", async () => {
    const { folder } = await convertGguf(makePair("Q4_0").file, "q8", 5);
    expect(JSON.parse(folder.config)).toMatchObject({
      ...wide,
      layer_norm_epsilon: expect.closeTo(1e-5, 9),
      tie_word_embeddings: true,
      eos_token_id: 34,
      quantization_config: { quant_method: "gpt2-wasm", weights: "q8", group_size: 32 },
    });
    expect(JSON.parse(folder.vocab)).toEqual(vocabulary.vocab);
    expect(folder.merges).toBe("#version: 0.2\nA B\nAB C\n");
    expect(folder.tokenizerConfig).toBe("");
  });

  it("a GGUF file keeps its added tokens in tokenizer_config.json", async () => {
    const metadata = ggufMetadata(wide, vocabulary);
    const types = Array.from({ length: wide.vocab_size }, (_, id) => (id < 33 ? 1 : id === 33 ? 4 : 5));
    metadata["tokenizer.ggml.token_type"] = { i32s: types };
    const file = writeGguf(
      metadata,
      ggufTensors(hubTensors(wide), () => "Q8_0"),
    );
    const source = new ConvertedSource(new MemorySource({ "model.gguf": file }), {
      weights: "q8",
      gguf: "model.gguf",
      createConverter: () => Converter.create(code),
    });
    expect(JSON.parse(await readText(source, "tokenizer_config.json", signal))).toEqual({
      added_tokens_decoder: { 33: { content: "ABC", special: false } },
    });
    await expect(source.open("tokenizer.json", { signal })).rejects.toMatchObject({ code: "not-found" });
  });

  it("a GGUF file may have its own output matrix", async () => {
    const { file, config, hub } = makePair("Q6_K", false);
    const found = await convertGguf(file, "f32");
    expect(JSON.parse(found.folder.config)).toMatchObject({ tie_word_embeddings: false });
    expect(digests(found.tensors)).toEqual(digests((await convert(config, [hub], "f32")).tensors));
  });

  it("a GGUF file acts as a converted folder by itself", async () => {
    const { file } = makePair("Q5_K");
    const source = new ConvertedSource(new MemorySource({ "model.gguf": file }), {
      weights: "q4",
      gguf: "model.gguf",
      createConverter: () => Converter.create(code),
    });
    expect(JSON.parse(await readText(source, "vocab.json", signal))).toEqual(vocabulary.vocab);
    expect(JSON.parse(await readText(source, "config.json", signal))).toMatchObject({ n_embd: 256 });
    const { stream } = await source.open("model.safetensors", { signal });
    const bytes = Buffer.from(await bytesOf(stream));
    expect(digests(readSafetensors(bytes))).toEqual(digests((await convertGguf(file, "q4")).tensors));
  });

  type Parts = [metadata: Metadata, tensors: Map<string, GgufTensor>];
  const damages: [string, (...parts: Parts) => void, RegExp][] = [
    [
      "of another model",
      (m) => (m["general.architecture"] = { text: "llama" }),
      /"general\.architecture" is "llama", expected "gpt2"/,
    ],
    [
      "with another tokenizer",
      (m) => (m["tokenizer.ggml.pre"] = { text: "llama-bpe" }),
      /"tokenizer\.ggml\.pre" is "llama-bpe", expected "gpt-2"/,
    ],
    ["without a size", (m) => delete m["gpt2.block_count"], /"gpt2\.block_count" is missing/],
    [
      "with a size that cannot be",
      (m) => (m["gpt2.embedding_length"] = { u32: 0 }),
      /metadata as config\.json: "n_embd" is 0/,
    ],
    ["that is one of several", (m) => (m["split.count"] = { u32: 2 }), /it is one part/],
    [
      "with fewer key heads",
      (m) => (m["gpt2.attention.head_count_kv"] = { u32: 1 }),
      /"gpt2\.attention\.head_count_kv" differs/,
    ],
    [
      "without a tensor",
      (_, t) => t.delete("blk.0.ffn_up.weight"),
      /tensor "blk\.0\.ffn_up\.weight" is missing/,
    ],
    [
      "with a tensor too many",
      (_, t) => t.set("rope_freqs.weight", makeTensor("F32", [4], new Float32Array(4), Math.random)),
      /"rope_freqs\.weight" does not belong to a GPT-2/,
    ],
    [
      "with a tensor of another shape",
      (_, t) => t.set("output_norm.bias", makeTensor("F32", [255], new Float32Array(255), Math.random)),
      /"output_norm\.bias" is F32 \[255, 1\], expected \[256, 1\]/,
    ],
  ];
  it.each(damages)("%s is refused", async (_, damage, message) => {
    const metadata = ggufMetadata(wide, vocabulary);
    const tensors = ggufTensors(hubTensors(wide), () => "Q8_0");
    damage(metadata, tensors);
    const attempt = convertGguf(writeGguf(metadata, tensors), "q8");
    await expect(attempt).rejects.toMatchObject({
      name: "LoadError",
      message: expect.stringMatching(message),
    });
  });

  it("a GGUF file that is truncated, of an unknown version or not GGUF is refused", async () => {
    const { file } = makePair("Q8_0");
    const patched = (at: number, value: number) => {
      const copy = Buffer.from(file);
      copy.writeUInt32LE(value, at);
      return copy;
    };
    await expect(convertGguf(file.subarray(0, 1000), "q8")).rejects.toThrow(
      /it ends after \d+ bytes of its header/,
    );
    await expect(convertGguf(file.subarray(0, -200), "q8")).rejects.toThrow(/it ends inside tensor "/);
    await expect(convertGguf(patched(0, 1), "q8")).rejects.toThrow('does not begin with "GGUF"');
    await expect(convertGguf(patched(4, 1), "q8")).rejects.toThrow("version 1, expected 2 or 3");
    await expect(convertGguf(patched(8, 1e6), "q8")).rejects.toThrow("1000000 tensors");
    await expect(convertGguf(patched(28, 1), "q8")).rejects.toThrow(
      /the text "key" has \d+ bytes, expected at most/,
    );
  });
});
