// The errors for a model in several files before anything is converted; converter.test.ts tests the conversion.
import { expect, it } from "vitest";
import { LoadError } from "../../web/src/shared/errors.js";
import { ConvertedSource } from "../../web/src/model/convert/converted-source.js";
import { shardNames } from "../../web/src/model/convert/weight-files.js";
import { MemorySource } from "./support/memory-source.js";

const { signal } = new AbortController();
const indexName = "model.safetensors.index.json";
const open = (files: Record<string, string | Error>) =>
  new ConvertedSource(new MemorySource({ "config.json": "{}", ...files }), {
    weights: "q8",
    createConverter: () => new Promise(() => {}),
  }).open("config.json", { signal });

const wanted = `${indexName}: expected "weight_map" with the name of a file for each tensor`;

it.each([
  "null",
  "{}",
  '{"weight_map": null}',
  '{"weight_map": "a"}',
  '{"weight_map": {}}',
  '{"weight_map": {"a": "x.safetensors", "b": 5}}',
  '{"weight_map": {"a": ["x"]}}',
  '{"weight_map": {"a": "x", "b": "../x"}}',
  '{"weight_map": {"a": "x:y"}}',
  '{"weight_map": {"a": "/x"}}',
  '{"weight_map": {"a": ""}}',
])("a model.safetensors.index.json that is %s is refused", async (text) => {
  await expect(open({ [indexName]: text })).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringContaining(wanted) as string,
  });
});

it("an index may name files in any script, with spaces and marks", () => {
  const names = [".a%20#.safetensors", "x y.safetensors", "\u00e9.safetensors", "\u7269.safetensors"];
  const map = Object.fromEntries(names.map((name) => [name, name]));
  expect(shardNames(indexName, JSON.stringify({ weight_map: map }))).toEqual(names);
});

it("an index that is not JSON is refused", async () => {
  await expect(open({ [indexName]: "{" })).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringMatching(/^model\.safetensors\.index\.json is not valid JSON: ./) as string,
  });
});

it.each([
  [16385, () => "a.safetensors", "16385 tensors, expected at most 16384"],
  [1001, (i: number) => `${i}.safetensors`, "1001 files, expected at most 1000"],
])("a model with an index of %i tensors is refused", async (count, nameOf, message) => {
  const entries = Array.from({ length: count }, (_, i) => [`t${i}`, nameOf(i)]);
  const text = JSON.stringify({ weight_map: Object.fromEntries(entries) });
  await expect(open({ [indexName]: text })).rejects.toMatchObject({
    message: `${indexName}, "weight_map": found ${message}`,
  });
});

it("model.safetensors.index.json is not requested if model.safetensors exists but cannot be read", async () => {
  const broken = new LoadError("network", "model.safetensors is broken");
  await expect(open({ "model.safetensors": broken, [indexName]: "{}" })).rejects.toBe(broken);
});

it("without an index the error names model.safetensors", async () => {
  await expect(open({})).rejects.toMatchObject({
    code: "not-found",
    message: "there is no model.safetensors",
  });
});
