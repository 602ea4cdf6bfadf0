// The module that converts, in Node. The step `wasm` of `npm test` builds it. The tests in tests/convert cover the formats that
// it reads; tests/weights_tools/program.test.ts compares its output with that of `gpt2-weights convert`.
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { readText } from "../../web/src/model/sources/read-text.js";
import { tiny } from "../weights_tools/tool.js";
import { filesOf, makeAdapter, randomTensor } from "./support/adapter.js";
import {
  configOf,
  convert,
  createConverter,
  feed,
  hubFile,
  readWeights,
  sourceOf,
} from "./support/convert.js";
import { randomFrom } from "./support/gguf.js";
import { MemorySource } from "./support/memory-source.js";
import { readSafetensors, writeSafetensors } from "./support/safetensors.js";

const models = readdirSync(tiny);
const { signal } = new AbortController();

const tied = () => convert(hubFile(), { weights: "q8", config: configOf() });
const folder = (model = "tied") => ({ "config.json": configOf(model), "model.safetensors": hubFile(model) });
const tensors = readSafetensors(hubFile());

it("the converter holds at most one tensor, and can be used again", async () => {
  const converter = await createConverter();
  const before = converter.memoryBytes;
  for (let i = 0; i < 3; ++i) {
    converter.begin({ weights: "q8", config: configOf() });
    expect(converter.folder).toBeUndefined();
    feed(converter, hubFile());
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
  const attempt = convert(damage(hubFile()), { weights: "q8", config: configOf() });
  const expected = { name: "LoadError", code: "corrupt", message: expect.stringMatching(message) as string };
  await expect(attempt).rejects.toMatchObject(expected);
});

it("the converter refuses a quantized model, and a file that changes after its header was read", async () => {
  const { folder: made, file } = await tied();
  const again = convert(file, { weights: "q4", config: made.config });
  await expect(again).rejects.toThrow("the model is already converted to q8");
  const heads = [[...tensors].slice(0, 3), [...tensors].slice(3)].map((part) =>
    writeSafetensors(new Map(part)),
  );
  const converter = await createConverter();
  converter.begin({ weights: "q8", config: configOf(), heads });
  feed(converter, heads[0] ?? Buffer.alloc(0));
  expect(() => feed(converter, heads[0] ?? Buffer.alloc(0))).toThrow(
    /file 2 of 2 has changed since its header was read/,
  );
});

it.each(models)("a conversion of %s resumes at any byte, and repeats no tensor", async (model) => {
  const length = hubFile(model).length;
  for (const weights of ["q8", "q4", "f32"] as const) {
    const { file } = await convert(hubFile(model), { weights, config: configOf(model) });
    for (const share of [0, 0.2, 0.55, 0.9, 1]) {
      const from = Math.max(1, Math.floor(file.length * share));
      const inner = new MemorySource(folder(model));
      const source = sourceOf(inner, { weights });
      await readText(source, "config.json", signal); // which reads from the beginning
      const { size, made, bytes } = await readWeights(source, from);
      expect(size).toBe(file.length);
      expect(bytes.equals(file.subarray(from))).toBe(true);
      const begun = inner.placesOf("model.safetensors").find((place) => place > 0);
      expect(begun).toBeGreaterThan((length - 1000) * (share - 0.3));
      expect(made).toEqual({ readBytes: length, totalBytes: length });
    }
  }
});

it("a converted source acts as a converted folder, read in any order and repeatedly", async () => {
  const expected = await tied();
  const inner = new MemorySource({ ...folder(), "vocab.json": "{}" });
  const source = sourceOf(inner);
  expect(await readText(source, "config.json", signal)).toBe(expected.folder.config);
  expect(await readText(source, "vocab.json", signal)).toBe("{}");
  await expect(source.open("merges.txt", { signal })).rejects.toMatchObject({ code: "not-found" });
  await expect(source.open("weights.json", { signal })).rejects.toMatchObject({ code: "not-found" });
  expect((await readWeights(source)).bytes.equals(expected.file)).toBe(true);
  expect(inner.placesOf("model.safetensors")).toHaveLength(1);
  expect((await readWeights(source)).bytes.equals(expected.file)).toBe(true);
});

it("a converted source finds all shards of model.safetensors, and resumes in the right one", async () => {
  const all = [...tensors];
  const names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] as const;
  const weight_map = Object.fromEntries(all.map(([name], i) => [name, names[i < 4 ? 0 : 1]]));
  const inner = new MemorySource({
    "config.json": configOf(),
    "model.safetensors.index.json": JSON.stringify({ metadata: {}, weight_map }),
    [names[0]]: writeSafetensors(new Map(all.slice(0, 4))),
    [names[1]]: writeSafetensors(new Map(all.slice(4))),
  });
  const { file } = await tied();
  expect((await readWeights(sourceOf(inner))).bytes.equals(file)).toBe(true);
  inner.opened.splice(0);
  const from = file.length - 100;
  expect((await readWeights(sourceOf(inner), from)).bytes.equals(file.subarray(from))).toBe(true);
  expect(inner.opened.filter((opened) => opened.from > 0)).toMatchObject([{ name: names[1] }]);
});

const adapter = makeAdapter(tensors);
const asFiles = (made: typeof adapter) => {
  const files = filesOf(made);
  const bytes = new Uint8Array(files["adapter_model.safetensors"] ?? []);
  return { name: "a", config: String(files["adapter_config.json"]), tensors: bytes, weight: 1 };
};
const read = async (adapters: ReturnType<typeof asFiles>[], from = 0) => {
  const merged = adapters.map((files) => ({ files: async () => files }));
  return (await readWeights(sourceOf(new MemorySource(folder()), { adapters: merged }), from)).bytes;
};

it("an adapter with a head of its own unties the model; its conversion resumes at any byte", async () => {
  const config = { ...adapter.config, modules_to_save: ["lm_head"] };
  const head = randomTensor([160, 64], randomFrom(3));
  const own = { config, tensors: new Map([...adapter.tensors, ["base_model.model.lm_head.weight", head]]) };
  const whole = await read([asFiles(own)]);
  expect(readSafetensors(whole).get("lm_head.weight")?.shape).toEqual([160, 64]);
  for (const share of [0.01, 0.4, 0.8, 0.95, 0.999]) {
    const from = Math.floor(whole.length * share);
    expect((await read([asFiles(own)], from)).equals(whole.subarray(from))).toBe(true);
  }
});

it("an adapter that cannot be merged is refused by name; the converter still works", async () => {
  const bad = { ...asFiles(adapter), config: "{}", name: "hf:user/lora@main" };
  await expect(read([asFiles(adapter), bad])).rejects.toMatchObject({
    code: "corrupt",
    message: 'hf:user/lora@main: adapter_config.json: "peft_type" is missing',
  });
  const converter = await createConverter();
  const conversion = { weights: "q8" as const, config: configOf() };
  expect(() => converter.begin({ ...conversion, adapters: [asFiles(adapter), bad] })).toThrow("peft_type");
  converter.begin(conversion);
  const parts = feed(converter, hubFile());
  converter.end();
  expect(Buffer.concat(parts).equals((await tied()).file)).toBe(true);
});

it("a tokenizer in other files than vocab.json and merges.txt is read as rules, or refused by the field's name", async () => {
  const texts = { "vocab.json": '{"a":0,"<end>":1}', "merges.txt": "#version: 0.2\n" };
  const converter = await createConverter();
  const read = (config: object) =>
    converter.readTokenizer({ ...texts, "tokenizer_config.json": JSON.stringify(config) }, 2);
  const { vocab, merges, rules } = read({ add_bos_token: true, bos_token: "<end>" });
  expect({ "vocab.json": vocab, "merges.txt": merges }).toEqual(texts);
  expect(rules).toMatchObject({ beginning: [1], end: [] });
  expect(() => read({ add_eos_token: true })).toThrow(
    expect.objectContaining({
      code: "unsupported",
      message: expect.stringMatching(/^tokenizer_config\.json: "add_eos_token"/) as string,
    }),
  );
});
