// Models of random weights in the shapes of GPT-2: speed does not depend on the values. They lie in build/bench/models.
import { execFileSync } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import { root } from "../../engine/toolchain/build.mjs";
import { safetensorsFile, seededTensors } from "../compare/seeded-model.mjs";

const folder = join(root, "build/bench/models");
const tokenizer = join(root, "tests/data/gpt2-tokenizer");
const readText = (name) => readFileSync(join(tokenizer, name), "utf8");

/** The config of each published size. */
export const gpt2Sizes = JSON.parse(readFileSync(join(import.meta.dirname, "gpt2-sizes.json"), "utf8"));
export const gpt2Config = gpt2Sizes["124M"];

/** The path of the model `name`. Unless it is complete, `write` makes it. `last` is the file that `write` makes last. */
export function made(name, last, write) {
  const path = join(folder, name);
  if (existsSync(join(path, last))) return path;
  mkdirSync(folder, { recursive: true });
  write(path);
  return path;
}

/** A folder of this engine's format. With "--echo" among `options` the model repeats itself. Needs the built gpt2-weights. */
export const makeModel = (format, name = `gpt2-${format}`, options = [], config = gpt2Config) =>
  made(name, "weights.json", (path) => {
    const file = join(folder, "config.json");
    writeFileSync(file, JSON.stringify(config));
    const args = ["random", file, path, "--weights", format, "--seed", "1", "--force", ...options];
    const tool = join(root, "build/native/weights_tools/gpt2-weights");
    execFileSync(tool, args, { stdio: ["ignore", 2, 2] });
  });

/** A folder as the Hub has GPT-2 124M: 498 MB of float32, in the Hub's order. */
export const makeHubModel = () =>
  made("gpt2-hub", "model.safetensors", (path) => {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "config.json"), JSON.stringify(gpt2Config));
    for (const name of ["vocab.json", "merges.txt"]) copyFileSync(join(tokenizer, name), join(path, name));
    const tensors = [...seededTensors(gpt2Config)].sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(join(path, "part"), safetensorsFile(new Map(tensors)));
    renameSync(join(path, "part"), join(path, "model.safetensors"));
  });

/** A GGUF file with weights of `type`, "Q8_0" or "Q4_0", as llama.cpp reads it. The tests' own writer makes it. */
export async function makeGguf(type) {
  const outfile = join(root, "build/bench/gguf.mjs");
  const entryPoints = [join(root, "tests/web/support/gguf.ts")];
  buildSync({ entryPoints, outfile, bundle: true, format: "esm", platform: "node" });
  const { blockTypes, ggufMetadata, ggufName, writeGguf } = await import(pathToFileURL(outfile).href);

  /** Small floats, or any codes with half-precision 2^-12 as their scale. */
  const randomTensor = (name, shape) => {
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
  };
  return made(`gpt2-${type}.gguf`, "", (path) => {
    // Random weights write random tokens. All are whole ASCII characters, because wllama fails at an incomplete one.
    const isPlain = (token) => /^[\x21-\x7eĠĊ]+$/.test(token);
    const tokens = Object.entries(JSON.parse(readText("vocab.json")));
    const vocab = Object.fromEntries(tokens.map(([token, id]) => [isPlain(token) ? token : `x${id}`, id]));
    const isKnown = (line) => [...line.split(" "), line.replace(" ", "")].every((token) => token in vocab);
    const merges = readText("merges.txt").split("\n").filter(isKnown);
    const tensors = new Map();
    for (const [name, { shape }] of seededTensors(gpt2Config))
      tensors.set(ggufName(name), randomTensor(name, shape));
    writeFileSync(path, writeGguf(ggufMetadata(gpt2Config, { vocab, merges }), tensors));
  });
}

/** @type {Record<string, number>} */
const vocab = JSON.parse(readText("vocab.json"));
/** Words that are one token with the space before them: a text of n of them has n tokens. */
const words = Object.entries(vocab).filter(([token]) => /^Ġ[a-z]{4,}$/.test(token));

/** A prompt of `length` tokens, another one for each `salt`. */
export function makePrompt(length, salt) {
  const chosen = Array.from(
    { length },
    (_, i) => words[(i * 7919 + salt * 104729) % words.length] ?? ["", 0],
  );
  return {
    ids: chosen.map(([, id]) => id),
    text: chosen.map(([token]) => `${token}`.replace("Ġ", " ")).join(""),
  };
}
