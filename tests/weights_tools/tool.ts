// `gpt2-weights`, run as a user runs it, and the models it is run on.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect } from "vitest";
import { writeSafetensors, type Tensor } from "../web/support/safetensors.js";

export const root = resolve(import.meta.dirname, "../..");
export const tool = process.env.GPT2_WEIGHTS ?? join(root, "build/native/weights_tools/gpt2-weights");
export const tiny = join(root, "tests/data/tiny-models");
export const vocabulary = join(root, "tests/data/gpt2-tokenizer");

/** A separate folder for the test file. */
export const scratch = mkdtempSync(join(tmpdir(), "gpt2-weights-"));
afterAll(() => rmSync(scratch, { recursive: true }));

/** The tool's progress line every half minute, on a busy machine or in a build with sanitizers. */
const progress = /^[^\n]+: \d+ %(?:, [\d a-z]+ left)?\n/gm;

export function weights(args: string[], input = "") {
  const { status, stdout, stderr } = spawnSync(tool, args, { input, encoding: "utf8", maxBuffer: 1 << 28 });
  return { status, stdout, stderr: stderr.replaceAll(progress, "") };
}

/** Runs the tool in a shell, as "$tool", for redirections and limits; `$scratch` and `$tiny` are there, too. */
export function shell(script: string) {
  const env = { ...process.env, tool, scratch, tiny, vocabulary };
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script], { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

export interface Run {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Runs a program without waiting for it; by default Node.js. */
export function start(args: string[], env: Record<string, string> = {}, program = process.execPath) {
  const child = spawn(program, args, { cwd: root, env: { ...process.env, ...env } });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text) => (stdout += String(text)));
  child.stderr.on("data", (text) => (stderr += String(text)));
  const ended = new Promise<Run>((resolve) =>
    child.on("close", (status, signal) => resolve({ status, signal, stdout, stderr })),
  );
  return { child, ended };
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests inspect any part of the tool's JSON
export function json(args: string[], input = ""): any {
  const { status, stdout, stderr } = weights(args, input);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return JSON.parse(stdout);
}

/** Expects exit status 1 with one sentence on standard error, and returns it. */
export function refusal({ status, stderr }: { status: number | null; stderr: string }): string {
  expect(stderr).toMatch(/^gpt2-weights: .+\n$/);
  expect(status).toBe(1);
  return stderr;
}

/** The tiny model `name` in `format`, converted at the first call. */
export function converted(name: string, format: string): string {
  const out = join(scratch, `${name}-${format}`);
  if (!existsSync(out)) json(["convert", join(tiny, name), out, "--weights", format, "--json"]);
  return out;
}

/** These files of the folder `from`. */
export const filesFrom = (from: string, ...names: string[]): Record<string, Buffer> =>
  Object.fromEntries(names.map((name) => [name, readFileSync(join(from, name))]));
/** The tiny model `tied`, as the Hub has it. */
export const tiedFiles = () => filesFrom(join(tiny, "tied"), "config.json", "model.safetensors");
let folders = 0;
/** A folder with these files, below `scratch`. */
export function folderOf(files: Record<string, string | Buffer>, name = `folder-${folders++}`): string {
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  return folder;
}

/** The files of `tensors` in two shards. */
export function shardsOf(tensors: ReadonlyMap<string, Tensor>): Record<string, string | Buffer> {
  const names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
  const entries = [...tensors];
  const weight_map = Object.fromEntries(entries.map(([name], at) => [name, names[at % 2]]));
  const parts = names.map((_, part) => new Map(entries.filter((__, at) => at % 2 === part)));
  const shards = Object.fromEntries(parts.map((part, at) => [names[at] ?? "", writeSafetensors(part)]));
  return { ...shards, "model.safetensors.index.json": JSON.stringify({ metadata: {}, weight_map }) };
}

/** The pieces of the converted `model`, by name. The other files contain its name, which differs. */
export function piecesOf(model: string, format: string, ...more: string[]): Record<string, string> {
  const out = join(scratch, "pieces");
  json([
    "convert",
    model,
    out,
    "--weights",
    format,
    "--calibration-tokens",
    "0",
    "--force",
    "--json",
    ...more,
  ]);
  return Object.fromEntries(Object.entries(contents(out)).filter(([name]) => name.startsWith("model.")));
}

/** The SHA-256 of every file in a folder, by its path in it. */
export function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
    ]),
  );
}
