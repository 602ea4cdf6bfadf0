// A GGUF file of random GPT-2 weights, as llama.cpp reads it: the tests' own writer makes it.
import { randomFillSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import { root } from "../../../engine/toolchain/build.mjs";
import { gpt2Config, hubTensors } from "../models.mjs";

const outfile = join(root, "build/bench/gguf.mjs");
const entryPoints = [join(root, "tests/web/support/gguf.ts")];
buildSync({ entryPoints, outfile, bundle: true, format: "esm", platform: "node" });
const { blockTypes, ggufMetadata, ggufName, writeGguf } = await import(pathToFileURL(outfile).href);

/** A tensor of the Hub's `name` and `shape`: small floats, or any codes with half-precision 2^-12 as their scale. */
function randomTensor(name, shape, type) {
  const dims = /\.c_\w+\.weight$/.test(name) ? shape : shape.toReversed();
  const kind = shape.length === 1 || name === "wpe.weight" ? "F32" : type;
  const [, values, size] = blockTypes[kind];
  const bytes = Buffer.alloc((shape.reduce((product, n) => product * n, 1) / values) * size);
  if (kind !== "F32") randomFillSync(bytes);
  for (let at = 0; at < bytes.length; at += size) {
    if (kind === "F32") bytes.writeFloatLE(0.02 * (Math.random() - 0.5), at);
    else bytes.writeUInt16LE(0x0c00, at);
  }
  return { type: kind, dims, bytes };
}

/** Writes `path` in GPT-2 124M's shape with weights of `type`, "Q8_0" or "Q4_0". */
export function writeRandomGguf(path, type) {
  const data = join(root, "tests/data/gpt2-tokenizer");
  // Random weights write random tokens. All are whole ASCII characters, because wllama fails at an incomplete one.
  const vocab = Object.fromEntries(
    Object.entries(JSON.parse(readFileSync(join(data, "vocab.json"), "utf8"))).map(([token, id]) => [
      /^[\x21-\x7eĠĊ]+$/.test(token) ? token : `x${id}`,
      id,
    ]),
  );
  const merges = readFileSync(join(data, "merges.txt"), "utf8")
    .split("\n")
    .filter((line) => [...line.split(" "), line.replace(" ", "")].every((token) => token in vocab));
  const tensors = new Map();
  for (const { name, shape } of hubTensors())
    if (!name.endsWith(".attn.bias")) tensors.set(ggufName(name), randomTensor(name, shape, type));
  writeFileSync(path, writeGguf(ggufMetadata(gpt2Config, { vocab, merges }), tensors));
}
