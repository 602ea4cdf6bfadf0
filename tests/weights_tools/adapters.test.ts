// `--adapter`: LoRA adapters, merged into a model before a command uses it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesOf, makeAdapter, merge } from "../web/support/adapter.js";
import { ggufMetadata, ggufTensors, writeGguf, type BlockType } from "../web/support/gguf.js";
import { readSafetensors, writeSafetensors, type Tensor } from "../web/support/safetensors.js";
import {
  converted,
  filesFrom,
  folderOf,
  json,
  piecesOf,
  refusal,
  scratch,
  shardsOf,
  tiedFiles,
  tiny,
  weights,
} from "./tool.js";

const base = join(tiny, "tied");
const tensors = readSafetensors(readFileSync(join(base, "model.safetensors")));
const config = JSON.parse(readFileSync(join(base, "config.json"), "utf8")) as Record<string, unknown>;

/** The folder of a model of `all`, as a hub has it. */
const modelOf = (all: ReadonlyMap<string, Tensor>) =>
  folderOf({ ...tiedFiles(), "model.safetensors": writeSafetensors(all) });

const files = makeAdapter(tensors);
const adapter = folderOf(filesOf(files), "adapter");
const other = folderOf(filesOf(makeAdapter(tensors, 2)));
const merged = modelOf(merge(tensors, files));

describe("an adapter", () => {
  it.each([
    ["generate", "--ids", "1,2,3", "--max-new-tokens", "8", "--temperature", "0", "--json"],
    ["trace", "--ids", "1,2,3"],
    ["inspect", "--json", "--original", base],
    ["verify", "--json"],
  ])("an adapter is merged for the command %s", (command, ...more) => {
    const run = (model: string, ...with_: string[]) => {
      const result = JSON.parse(weights([command, model, ...more, ...with_]).stdout) as object;
      // These fields describe the files themselves.
      return { ...result, model: "", weights: "", file_bytes: 0 };
    };
    const found = run(base, "--adapter", adapter);
    expect(found).toEqual(run(merged));
    if (command !== "verify") expect(found).not.toEqual(run(base));
  });

  it("an adapter is scaled by the weight after its path, and several are merged in order", () => {
    const twice = merge(merge(tensors, files, 0.5), makeAdapter(tensors, 2), -2);
    const found = piecesOf(base, "f32", "--adapter", `${adapter}=0.5`, "--adapter", `${other}=-2`);
    expect(found).toEqual(piecesOf(modelOf(twice), "f32"));
    expect(piecesOf(base, "f32", "--adapter", `${adapter}=0`)).toEqual(piecesOf(base, "f32"));
  });

  it("an adapter's folder may have = in its name", () => {
    const odd = folderOf(filesOf(files), "a=b");
    const found = piecesOf(base, "q8", "--adapter", odd);
    expect(found).toEqual(piecesOf(merged, "q8"));
    expect(found).not.toEqual(piecesOf(base, "q8"));
  });

  it("an adapter is merged into a model in several files", () => {
    const folder = folderOf({ ...filesFrom(base, "config.json"), ...shardsOf(tensors) });
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
    const empty = folderOf({ "adapter_config.json": "{}" }, "no-tensors");
    expect(run(base, empty)).toMatch(/no-tensors\/adapter_model\.safetensors/);
  });

  it("a damaged adapter is refused by the name of its folder", () => {
    const bad = folderOf({ ...filesOf(files), "adapter_config.json": "{" }, "bad");
    expect(run(base, adapter, bad)).toMatch(/bad\/adapter_config\.json/);
  });

  it("an output that would replace the adapter is refused", () => {
    const kept = folderOf({ ...filesOf(files), ...tiedFiles() }, "kept");
    expect(refusal(weights(["convert", base, kept, "--adapter", kept, "--force"]))).toContain("kept");
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
