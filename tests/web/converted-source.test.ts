// The errors for a model in several files before anything is converted; converter.test.ts tests the conversion.
import { describe, expect, it } from "vitest";
import { ConvertedSource } from "../../web/src/convert/converted-source.js";
import { isWholeHead } from "../../web/src/convert/tensor-head.js";
import { fileOf, type ModelSource } from "../../web/src/loader/model-source.js";
import { LoadError } from "../../web/src/shared/errors.js";

const { signal } = new AbortController();
const sourceOf = (files: Record<string, string>): ModelSource => ({
  async open(name) {
    const text = files[name];
    if (text === undefined) throw new LoadError("not-found", `there is no ${name}`);
    if (text === "broken") throw new LoadError("network", `${name} is broken`);
    return fileOf(new TextEncoder().encode(text));
  },
});
const open = (files: Record<string, string>) =>
  new ConvertedSource(sourceOf({ "config.json": "{}", ...files }), {
    weights: "q8",
    createConverter: () => new Promise(() => {}),
  }).open("config.json", { signal });

describe("model.safetensors.index.json", () => {
  const wanted =
    'model.safetensors.index.json: expected "weight_map" with the name of a file for each tensor';

  it.each([
    ["null"],
    ["{}"],
    ['{"weight_map": null}'],
    ['{"weight_map": "a"}'],
    ['{"weight_map": {}}'],
    ['{"weight_map": {"a": "x.safetensors", "b": 5}}'],
    ['{"weight_map": {"a": ["x"]}}'],
    ['{"weight_map": {"a": "x", "b": "../x"}}'],
    ['{"weight_map": {"a": "x y"}}'],
    ['{"weight_map": {"a": "/x"}}'],
    ['{"weight_map": {"a": ""}}'],
  ])("a model.safetensors.index.json that is %s is refused", async (text) => {
    await expect(open({ "model.safetensors.index.json": text })).rejects.toMatchObject({
      code: "corrupt",
      message: wanted,
    });
  });

  it("an index that is not JSON is refused", async () => {
    await expect(open({ "model.safetensors.index.json": "{" })).rejects.toMatchObject({
      code: "corrupt",
      message: expect.stringMatching(/^model\.safetensors\.index\.json is not valid JSON: ./) as string,
    });
  });

  it("model.safetensors.index.json is not requested if model.safetensors exists but cannot be read", async () => {
    await expect(
      open({ "model.safetensors": "broken", "model.safetensors.index.json": "{" }),
    ).rejects.toMatchObject({ code: "network", message: "model.safetensors is broken" });
  });

  it("without an index the error names model.safetensors", async () => {
    await expect(open({})).rejects.toMatchObject({
      code: "not-found",
      message: "there is no model.safetensors",
    });
  });
});

it.each([
  [7, 0, false],
  [8, 0, true],
  [10, 3, false],
  [11, 3, true],
  [12, 3, true],
])(
  "the first %i bytes of a file with a header of %i bytes contain no tensor: %s",
  (size, header, isWhole) => {
    const bytes = new Uint8Array(size + 5);
    bytes[5] = header; // the first of eight, lowest first
    expect(isWholeHead(bytes.subarray(5))).toBe(isWhole);
  },
);
