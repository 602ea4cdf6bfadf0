// `--adapter`: LoRA adapters, merged into a model before a command uses it.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesOf, makeAdapter, merge } from "../web/support/adapter.js";
import { ggufMetadata, ggufTensors, writeGguf, type BlockType } from "../web/support/gguf.js";
import { readSafetensors, writeSafetensors, type Tensor } from "../web/support/safetensors.js";
import { contents, converted, json, refusal, scratch, tiny, weights } from "./tool.js";

const base = join(tiny, "tied");
const tensors = readSafetensors(readFileSync(join(base, "model.safetensors")));
const config = JSON.parse(readFileSync(join(base, "config.json"), "utf8")) as Record<string, unknown>;

function write(name: string, files: Record<string, Buffer>): string {
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(folder, file), bytes);
  return folder;
}

/** The folder of a model of `all`, as a hub has it. */
const modelOf = (name: string, all: ReadonlyMap<string, Tensor>) =>
  write(name, {
    "config.json": readFileSync(join(base, "config.json")),
    "model.safetensors": writeSafetensors(all),
  });

const files = makeAdapter(tensors);
const adapter = write("adapter", filesOf(files));
const other = write("other", filesOf(makeAdapter(tensors, 2)));
const merged = modelOf("merged", merge(tensors, files));
const options = ["--calibration-tokens", "0", "--force", "--json"];

/** The pieces of the converted `model`. The other files contain its name, which differs. */
function piecesOf(model: string, format: string, ...more: string[]): Record<string, string> {
  const out = join(scratch, "out");
  json(["convert", model, out, "--weights", format, ...options, ...more]);
  return Object.fromEntries(Object.entries(contents(out)).filter(([name]) => name.startsWith("model.")));
}

describe("an adapter", () => {
  it.each([
    ["generate", "--ids", "1,2,3", "--max-new-tokens", "8", "--temperature", "0", "--json"],
    ["trace", "--ids", "1,2,3"],
    ["inspect", "--json", "--original", base],
    ["verify", "--json"],
  ])("an adapter is merged for the command %s", (command, ...more) => {
    const run = (model: string, ...with_: string[]) => {
      const { stdout } = weights([command, model, ...more, ...with_]);
      const result = JSON.parse(stdout) as Record<string, unknown>;
      // These fields describe the files themselves.
      return { ...result, model: "", weights: "", file_bytes: 0 };
    };
    const found = run(base, "--adapter", adapter);
    expect(found).toEqual(run(merged));
    if (command !== "verify") expect(found).not.toEqual(run(base));
  });

  it("an adapter is scaled by the weight after its path, and several are merged in order", () => {
    const twice = merge(merge(tensors, files, 0.5), makeAdapter(tensors, 2), -2);
    const expected = piecesOf(modelOf("twice", twice), "f32");
    expect(piecesOf(base, "f32", "--adapter", `${adapter}=0.5`, "--adapter", `${other}=-2`)).toEqual(
      expected,
    );
    expect(piecesOf(base, "f32", "--adapter", `${adapter}=0`)).toEqual(piecesOf(base, "f32"));
  });

  it("an adapter's folder may have = in its name", () => {
    const odd = write("a=b", filesOf(files));
    const found = piecesOf(base, "q8", "--adapter", odd);
    expect(found).toEqual(piecesOf(merged, "q8"));
    expect(found).not.toEqual(piecesOf(base, "q8"));
  });

  it("an adapter is merged into a model in several files", () => {
    const entries = [...tensors];
    const names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    const parts = names.map((_, part) => new Map(entries.filter((__, at) => at % 2 === part)));
    const folder = write("shards", {
      "config.json": readFileSync(join(base, "config.json")),
      "model.safetensors.index.json": Buffer.from(
        JSON.stringify({
          weight_map: Object.fromEntries(entries.map(([name], at) => [name, names[at % 2]])),
        }),
      ),
      ...Object.fromEntries(names.map((name, part) => [name, writeSafetensors(parts[part] ?? new Map())])),
    });
    const found = json(["trace", folder, "--ids", "1,2", "--adapter", adapter]);
    expect(found).toEqual(json(["trace", merged, "--ids", "1,2"]));
  });

  it("an adapter is merged into the floats of a GGUF file, but not into quantized tensors", () => {
    const gguf = (type: BlockType) => {
      const path = join(scratch, `${type}.gguf`);
      const typeOf = (name: string) => (name.includes("attn_qkv.weight") ? type : "F32");
      writeFileSync(path, writeGguf(ggufMetadata(config), ggufTensors(tensors, typeOf)));
      return path;
    };
    const trace = ["--ids", "1,2"];
    const found = json(["trace", gguf("F32"), ...trace, "--adapter", adapter]);
    expect(found).toEqual(json(["trace", merged, ...trace]));
    expect(refusal(weights(["trace", gguf("Q8_0"), ...trace, "--adapter", adapter]))).toMatch(
      /tensor "blk\.0\.attn_qkv\.weight" is quantized to Q8_0, but an adapter can be merged only into floats/,
    );
  });
});

describe("refused adapters", () => {
  const run = (model: string, ...adapters: string[]) =>
    refusal(weights(["trace", model, "--ids", "1", ...adapters.flatMap((path) => ["--adapter", path])]));

  it("an adapter for a converted model is refused", () => {
    expect(run(converted("tied", "q8"), adapter)).toMatch(
      /tied-q8 is already converted: merge the adapter into the original model/,
    );
  });

  it("a folder that is not an adapter is refused", () => {
    expect(run(base, join(scratch, "nowhere"))).toContain("nowhere");
    expect(run(base, base)).toMatch(/tied\/adapter_config\.json/);
    const empty = write("no-tensors", { "adapter_config.json": Buffer.from("{}") });
    expect(run(base, empty)).toMatch(/no-tensors\/adapter_model\.safetensors/);
  });

  it("a damaged adapter is refused by the name of its folder", () => {
    const bad = write("bad", { ...filesOf(files), "adapter_config.json": Buffer.from("{") });
    expect(run(base, adapter, bad)).toMatch(/bad\/adapter_config\.json/);
  });

  it("an output that would replace the adapter is refused", () => {
    const kept = write("kept", filesOf(files));
    for (const name of ["config.json", "model.safetensors"]) copyFileSync(join(base, name), join(kept, name));
    expect(refusal(weights(["convert", base, kept, "--adapter", kept, "--force"]))).toContain("kept");
    rmSync(kept, { recursive: true });
  });

  it.each([
    ["", /--adapter is empty/],
    [`${adapter}=1e9`, /the weight of --adapter is 1e9, expected/],
    [`${adapter}=`, /the weight of --adapter is empty, expected/],
  ])("wrong usage of --adapter is refused: --adapter %s", (value, message) => {
    const { status, stderr } = weights(["trace", base, "--ids", "1", "--adapter", value]);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
  });
});
