// `npm run compare:gguf`: a GGUF file in float32 has the same greedy text from llama.cpp, as wllama compiles it to
// WebAssembly, and from this engine. wllama is installed into build/peers, so this is no part of `npm test`.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { serve, type StaticHost } from "../../browsers/static-host.js";
import { fromHalf, ggufMetadata, ggufName, writeGguf, type GgufTensor } from "../../web/support/gguf.js";
import { readSafetensors, type Tensor } from "../../web/support/safetensors.js";
import { installPeers, peersFolder } from "./install.mjs";
import type * as Gpt2 from "../../../web/src/client/index.js";

const root = resolve(import.meta.dirname, "../../..");
const demo = join(root, "web/models/demo");
const folder = join(root, "build/compare-gguf");
const file = "demo.gguf";
const newTokens = 100;
const prompts = [
  "Once upon a time",
  "One day, a little girl named Lily found",
  "Tom and Sue had 3 apples, 12 pears and 1234 plums.\n\n",
  "\"Don't go!\" she said. It's late, isn't it?  He'd",
  "The",
];

/** Values of a tensor of the demo: codes of 8 bits with a scale for each 32, or floats. */
function valuesOf(
  tensors: ReadonlyMap<string, Tensor>,
  name: string,
  { dtype, shape, bytes }: Tensor,
): Float32Array {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [rows = 1, columns = 1] = shape;
  const values = new Float32Array(rows * columns);
  if (dtype === "I8") {
    const scales = tensors.get(`${name}_scale`);
    if (scales?.dtype !== "BF16") throw new Error(`${name} has no scales in BF16`);
    const [, groups = 0] = scales.shape;
    for (let i = 0; i < values.length; ++i) {
      const group = Math.floor(i / columns) * groups + Math.floor((i % columns) / 32);
      const bits = new DataView(new ArrayBuffer(4));
      bits.setUint16(0, scales.bytes.readUInt16LE(2 * group));
      values[i] = data.getInt8(i) * bits.getFloat32(0);
    }
    return values;
  }
  for (let i = 0; i < values.length; ++i)
    values[i] = dtype === "F32" ? data.getFloat32(4 * i, true) : fromHalf(data.getUint16(2 * i, true));
  return values;
}

/** The demo model, widened to float32, as a GGUF file. */
function writeDemo(): void {
  const names = readdirSync(demo)
    .filter((name) => name.startsWith("model.safetensors"))
    .sort();
  const tensors = readSafetensors(Buffer.concat(names.map((name) => readFileSync(join(demo, name)))));
  const widened = new Map<string, GgufTensor>();
  for (const [name, tensor] of tensors) {
    if (name.endsWith("_scale")) continue;
    const values = valuesOf(tensors, name, tensor);
    const dims = [...tensor.shape].reverse();
    const bytes = Buffer.from(values.buffer);
    widened.set(ggufName(name), { dtype: "F32", type: "F32", shape: tensor.shape, dims, bytes });
  }
  const text = (name: string) => readFileSync(join(demo, name), "utf8");
  const merges = text("merges.txt")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#version"));
  const vocab = JSON.parse(text("vocab.json")) as Record<string, number>;
  const metadata = ggufMetadata(JSON.parse(text("config.json")) as Record<string, unknown>, {
    vocab,
    merges,
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), writeGguf(metadata, widened));
}

let host: StaticHost;
test.beforeAll(async () => {
  installPeers(["@wllama/wllama"]);
  writeDemo();
  const folders = {
    "/peers/": join(peersFolder, "node_modules"),
    "/gguf/": folder,
    "/": join(root, "web/dist"),
  };
  host = await serve(true, folders);
});
test.afterAll(() => host.close());

/** What wllama writes after each prompt. */
async function writeWllama([address, texts, count]: readonly [string, string[], number]): Promise<string[]> {
  const base = new URL("/peers/@wllama/wllama/esm/", location.href).href;
  const { Wllama } = await import(`${base}index.js`);
  const wllama = new Wllama({ default: `${base}wasm/wllama.wasm` }, { suppressNativeLog: true });
  const blob = await (await fetch(address)).blob();
  const exact = { cache_type_k: "f32", cache_type_v: "f32", flash_attn: false };
  await wllama.loadModel([blob], { n_ctx: 256, n_threads: 2, n_gpu_layers: 0, warmup: false, ...exact });
  const written: string[] = [];
  for (const prompt of texts) {
    const { choices } = await wllama.createCompletion({
      prompt,
      max_tokens: count,
      temperature: 0,
      cache_prompt: false,
    });
    written.push(choices[0].text);
  }
  return written;
}

async function writeOurs([address, texts, count]: readonly [string, string[], number]): Promise<string[]> {
  const { loadModel } = (await import(new URL("/gpt2.js", location.href).href)) as typeof Gpt2;
  const model = await loadModel(address, { weights: "f32", kv: "f32", cache: false });
  const written: string[] = [];
  for (const prompt of texts) {
    const call = { maxNewTokens: count, temperature: 0, repetitionPenalty: 1 };
    written.push((await model.complete(prompt, call)).text);
  }
  await model.dispose();
  return written;
}

test("a GGUF file in float32 writes the same greedy text as llama.cpp", async ({ page }) => {
  const argument = [`/gguf/${file}`, prompts, newTokens] as const;
  await page.goto(`${host.origin}/blank.html`);
  const theirs = await page.evaluate(writeWllama, argument as unknown as [string, string[], number]);
  await page.goto(`${host.origin}/blank.html`);
  const ours = await page.evaluate(writeOurs, argument as unknown as [string, string[], number]);
  prompts.forEach((prompt, i) => {
    console.log(JSON.stringify(prompt + (ours[i] ?? "")));
    expect.soft(ours[i], prompt).toBe(theirs[i]);
  });
  expect(ours.join("").length).toBeGreaterThan(500);
});
