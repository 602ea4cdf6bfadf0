// A small model with all files that a model of the web has: a load takes a fraction of the demo's time.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { root } from "./model.js";

/** The folder of the model on a FaultyHost. */
export const smallFolder = "small/";
/** A text that its tokenizer can read, which lacks the space. */
export const smallPrompt = "abcab";

/** The model's files, by their paths on the host. */
export function smallModel(): ReadonlyMap<string, Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-small-"));
  const convert = [resolve(root, "build/package/gpt2-cli.js"), "convert"];
  const [given, out] = [resolve(root, "tests/data/tiny-models/tied"), join(folder, "f32")];
  execFileSync(process.execPath, [...convert, given, out, "--weights", "f32"], { stdio: "pipe" });
  const weights = readFileSync(join(out, "model.safetensors.000"));
  const half = weights.length >> 1;
  const config = readFileSync(join(out, "config.json"));
  rmSync(folder, { recursive: true });
  const { vocab_size: size } = JSON.parse(config.toString()) as { vocab_size: number };
  // The characters that stand for bytes in GPT-2's vocabulary, and a token of two of them.
  const characters = [
    ["!", "~"],
    ["¡", "¬"],
    ["®", "ÿ"],
  ].flatMap(([first = "", last = ""]) => {
    const codes = { first: first.charCodeAt(0), last: last.charCodeAt(0) };
    return Array.from({ length: codes.last - codes.first + 1 }, (_, i) =>
      String.fromCharCode(codes.first + i),
    );
  });
  const vocab = Object.fromEntries([...characters.slice(0, size - 1), "ab"].map((token, id) => [token, id]));
  const pieces = new Map([
    ["model.safetensors.000", weights.subarray(0, half)],
    ["model.safetensors.001", weights.subarray(half)],
  ]);
  const files = new Map([
    ["config.json", config],
    ["generation_config.json", Buffer.from('{"transformers_version": "4.0"}')],
    ["vocab.json", Buffer.from(JSON.stringify(vocab))],
    ["merges.txt", Buffer.from("#version: 0.2\na b\n")],
  ]);
  const hash = (data: Buffer) => createHash("sha256").update(data).digest("hex");
  const list = (all: ReadonlyMap<string, Buffer>) =>
    [...all].map(([path, data]) => ({ path, size: data.length, sha256: hash(data) }));
  const index = {
    ...{ version: 2, file: "model.safetensors", size: weights.length, sha256: hash(weights) },
    ...{ pieces: list(pieces), files: list(files) },
  };
  const all = [...pieces, ...files, ["weights.json", Buffer.from(JSON.stringify(index, null, 1))] as const];
  return new Map(all.map(([name, data]) => [smallFolder + name, data]));
}
