// Files of torch.save in the module that converts, compared with model.safetensors of the same weights: tests/data/torch/make.py wrote both.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { bytesOf } from "../../web/src/cache/store.js";
import { ConvertedSource } from "../../web/src/convert/converted-source.js";
import { Converter, type ConvertedWeights } from "../../web/src/convert/converter.js";
import type { ModelSource } from "../../web/src/loader/model-source.js";
import { LoadError } from "../../web/src/shared/errors.js";
import { root } from "../weights_tools/tool.js";
import { converterCode } from "./support/converter-code.js";
import { readSafetensors } from "./support/safetensors.js";

const data = (name: string) => readFileSync(join(root, "tests/data/torch", name));
const { signal } = new AbortController();

let code: WebAssembly.Module;

beforeAll(async () => {
  code = await WebAssembly.compile(converterCode);
});

/** A folder whose host states the size of its files, or does not. It records which files are opened, and where. */
class Folder implements ModelSource {
  readonly opened: string[] = [];
  private readonly files: Record<string, Buffer>;
  private readonly saysSize: boolean;
  constructor(files: Record<string, Buffer>, saysSize = true) {
    this.files = { "config.json": data("config.json"), ...files };
    this.saysSize = saysSize;
  }
  async open(name: string, { from = 0 }: { from?: number }) {
    this.opened.push(`${name} ${from}`);
    const bytes = this.files[name];
    if (bytes === undefined) throw new LoadError("not-found", `there is no ${name}`);
    const blob = new Blob([new Uint8Array(bytes)]);
    return { size: from > 0 || !this.saysSize ? undefined : blob.size, stream: blob.slice(from).stream() };
  }
}

async function convert(inner: ModelSource, weights: ConvertedWeights = "q8", from = 0) {
  const source = new ConvertedSource(inner, { weights, createConverter: () => Converter.create(code) });
  const { size, stream, made } = await source.open("model.safetensors", { signal, from });
  const bytes = Buffer.from(await bytesOf(stream));
  expect(from + bytes.length).toBe(size);
  return { bytes, made };
}

/** Type, shape and bytes of each tensor, by name: the order differs. */
const contentOf = (file: Buffer) =>
  [...readSafetensors(file)]
    .map(([name, { dtype, shape, bytes }]) => [name, dtype, shape.join(), Buffer.from(bytes).toString("hex")])
    .sort();

const folders: [string, Record<string, Buffer>][] = [
  ...["zip", "older", "float16", "bfloat16", "one-storage", "interleaved", "parameters"].map(
    (name): [string, Record<string, Buffer>] => [name, { "pytorch_model.bin": data(`${name}.bin`) }],
  ),
  [
    "several files",
    Object.fromEntries(
      [
        "pytorch_model.bin.index.json",
        "pytorch_model-00001-of-00002.bin",
        "pytorch_model-00002-of-00002.bin",
      ].map((name) => [name, data(name)]),
    ),
  ],
];

describe.each(folders)("pytorch_model.bin (%s)", (_, files) => {
  it.each(["f32", "q8", "q4"] as const)(
    "pytorch_model.bin converts to the same %s as model.safetensors",
    async (weights) => {
      const expected = await convert(new Folder({ "model.safetensors": data("model.safetensors") }), weights);
      const found = await convert(new Folder(files), weights);
      expect(contentOf(found.bytes)).toEqual(contentOf(expected.bytes));
      const bins = Object.entries(files).filter(([name]) => name.endsWith(".bin"));
      const size = bins.reduce((sum, [, bytes]) => sum + bytes.length, 0);
      expect(found.made).toEqual({ readBytes: size, totalBytes: size });
    },
  );

  it("an interrupted conversion of pytorch_model.bin resumes where it stopped", async () => {
    const whole = (await convert(new Folder(files))).bytes;
    for (const from of [1, 2000, whole.length - 1]) {
      expect((await convert(new Folder(files), "q8", from)).bytes.equals(whole.subarray(from))).toBe(true);
    }
  });
});

it("pytorch_model.bin is not requested if model.safetensors exists", async () => {
  const folder = new Folder({
    "model.safetensors": data("model.safetensors"),
    "pytorch_model.bin": data("exploit.bin"),
  });
  await convert(folder);
  expect(folder.opened.filter((name) => name.includes("bin"))).toEqual([]);
});

it("pytorch_model.bin is read in parts, and then once as a whole", async () => {
  const file = Buffer.concat([data("zip.bin")]);
  const folder = new Folder({ "pytorch_model.bin": file });
  await convert(folder);
  // The file is so small that its first part is all of it.
  expect(folder.opened.filter((name) => name.startsWith("pytorch_model.bin "))).toEqual([
    "pytorch_model.bin 0",
    "pytorch_model.bin 0",
  ]);
});

it.each([
  ["exploit.bin", "unsupported", /^pytorch_model\.bin: this file would call posix\.system, /],
  ["config.json", "corrupt", /^pytorch_model\.bin is not a file of weights: it begins with the text/],
])(
  "pytorch_model.bin is refused, and the error names the function that it would call: %s",
  async (name, code, message) => {
    await expect(convert(new Folder({ "pytorch_model.bin": data(name) }))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
  },
);

it("the zip form of pytorch_model.bin needs a host that states its size; the older form does not", async () => {
  await expect(convert(new Folder({ "pytorch_model.bin": data("zip.bin") }, false))).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("does not state its size") as string,
  });
  await convert(new Folder({ "pytorch_model.bin": data("older.bin") }, false));
});

it("a pytorch_model.bin that changes while it is read is an error that names it", async () => {
  let opened = 0;
  const [first, second] = [data("zip.bin"), data("one-storage.bin")];
  const changing = new Folder({ "pytorch_model.bin": first });
  const inner: ModelSource = {
    open: async (name, options) =>
      name === "pytorch_model.bin" && ++opened > 1
        ? new Folder({ "pytorch_model.bin": second }).open(name, options)
        : changing.open(name, options),
  };
  await expect(convert(inner)).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringMatching(
      /^pytorch_model\.bin: its file .* is not where the central directory says/,
    ) as string,
  });
});

it("a folder without weights is an error that says so", async () => {
  await expect(convert(new Folder({}))).rejects.toMatchObject({
    code: "not-found",
    message: "there is no model.safetensors",
  });
});
