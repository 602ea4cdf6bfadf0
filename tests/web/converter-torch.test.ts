// Files of torch.save in the module that converts, compared with model.safetensors of the same weights. tests/data/torch/make.py
// wrote both; tests/convert/torch_file_test.cc tests the other forms and damaged files.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ConvertedWeights } from "../../web/src/convert/converter.js";
import type { ModelSource } from "../../web/src/loader/model-source.js";
import { root } from "../weights_tools/tool.js";
import { digests, readWeights, sourceOf } from "./support/convert.js";
import { MemorySource } from "./support/memory-source.js";
import { readSafetensors } from "./support/safetensors.js";

const data = (name: string) => readFileSync(join(root, "tests/data/torch", name));
type Files = Record<string, Buffer>;
const folder = (files: Files, statesSize = true) =>
  new MemorySource({ "config.json": data("config.json"), ...files }, { statesSize });
const bin = (name: string) => ({ "pytorch_model.bin": data(name) });
const safetensors = { "model.safetensors": data("model.safetensors") };
const read = (inner: ModelSource, weights: ConvertedWeights = "q8", from = 0) =>
  readWeights(sourceOf(inner, { weights }), from);

const several = [
  "pytorch_model.bin.index.json",
  "pytorch_model-00001-of-00002.bin",
  "pytorch_model-00002-of-00002.bin",
];
const folders: [string, Files][] = [
  ["zip", bin("zip.bin")],
  ["older", bin("older.bin")],
  ["interleaved", bin("interleaved.bin")],
  ["several files", Object.fromEntries(several.map((name) => [name, data(name)]))],
];

describe.each(folders)("pytorch_model.bin (%s)", (_, files) => {
  it("pytorch_model.bin converts to the same as model.safetensors", async () => {
    const expected = await read(folder(safetensors));
    const found = await read(folder(files));
    expect(digests(readSafetensors(found.bytes))).toEqual(digests(readSafetensors(expected.bytes)));
    const bins = Object.entries(files).filter(([name]) => name.endsWith(".bin"));
    const size = bins.reduce((sum, [, bytes]) => sum + bytes.length, 0);
    expect(found.made).toEqual({ readBytes: size, totalBytes: size });
  });

  it("an interrupted conversion of pytorch_model.bin resumes where it stopped", async () => {
    const whole = (await read(folder(files))).bytes;
    for (const from of [1, 2000, whole.length - 1]) {
      expect((await read(folder(files), "q8", from)).bytes.equals(whole.subarray(from))).toBe(true);
    }
  });
});

it("pytorch_model.bin is not requested if model.safetensors exists", async () => {
  const inner = folder({ ...safetensors, ...bin("exploit.bin") });
  await read(inner);
  expect(inner.opened.filter(({ name }) => name.includes("bin"))).toEqual([]);
});

it("pytorch_model.bin is read in parts, and then once as a whole", async () => {
  const inner = folder(bin("zip.bin"));
  await read(inner);
  // The file is so small that its first part is all of it.
  expect(inner.placesOf("pytorch_model.bin")).toEqual([0, 0]);
});

it.each([
  ["exploit.bin", "unsupported", /^pytorch_model\.bin: this file would call posix\.system, /],
  ["config.json", "corrupt", /^pytorch_model\.bin is not a file of weights: it begins with the text/],
])("%s is refused as pytorch_model.bin: %s, %s", async (name, code, message) => {
  await expect(read(folder(bin(name)))).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message) as string,
  });
});

it("the zip form of pytorch_model.bin needs a host that states its size; the older form does not", async () => {
  await expect(read(folder(bin("zip.bin"), false))).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("does not state its size") as string,
  });
  await read(folder(bin("older.bin"), false));
});

it("a pytorch_model.bin that changes while it is read is an error that names it", async () => {
  const [before, after] = [folder(bin("zip.bin")), folder(bin("one-storage.bin"))];
  const open: ModelSource["open"] = (name, options) =>
    (before.placesOf("pytorch_model.bin").length > 0 ? after : before).open(name, options);
  await expect(read({ open })).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringMatching(
      /^pytorch_model\.bin: its file .* is not where the central directory says/,
    ) as string,
  });
});
