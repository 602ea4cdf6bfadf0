// `npm run bench:peers`: wllama, transformers.js and this engine in turn, in the same Chromium, on GPT-2
// 124M's shapes with random weights. Installs the peers into build/peers. Options: -- --json;
// --threads 1 (2); --rounds 5 (3).
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { buildPreset, buildWeb, root } from "../../../engine/toolchain/build.mjs";
import { downloadBytes } from "../../../web/scripts/download-size.mjs";
import { openBrowser } from "../browser.mjs";
import { gpt2Config, makeModel, modelsFolder } from "../models.mjs";
import { writeGguf } from "./gguf.mjs";
import { installPeers, peersFolder, peerVersions } from "./install.mjs";
import { loadOurs, loadTransformers, loadWllama, runPeer } from "./in-page.mjs";
import { writeOnnxFolder } from "./onnx.mjs";

const { values: flags } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    threads: { type: "string", default: "2" },
    rounds: { type: "string", default: "3" },
  },
});
const threads = Number(flags.threads);
const rounds = Number(flags.rounds);
const peers = peersFolder;
const versions = peerVersions;

const gzipBytes = (...files) =>
  files.reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(peers, "node_modules", file)), { level: 9 }).length,
    0,
  );

const wllamaBytes = () => gzipBytes("@wllama/wllama/esm/index.min.js", "@wllama/wllama/esm/wasm/wllama.wasm");
const transformersBytes = () =>
  gzipBytes(
    "@huggingface/transformers/dist/transformers.min.js",
    "onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.mjs",
    "onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.wasm",
  );

/** Who is measured: how each is loaded, with what, and what its visitors download before any weights. */
const contenders = [
  {
    name: "gpt2-wasm q8",
    load: loadOurs,
    model: "bench/gpt2-q8/",
    bytes: () => downloadBytes("threads-relaxed"),
  },
  {
    name: "gpt2-wasm q4",
    load: loadOurs,
    model: "bench/gpt2-q4/",
    bytes: () => downloadBytes("threads-relaxed"),
  },
  { name: "wllama Q8_0", load: loadWllama, model: "bench/gpt2-Q8_0.gguf", bytes: wllamaBytes },
  { name: "wllama Q4_0", load: loadWllama, model: "bench/gpt2-Q4_0.gguf", bytes: wllamaBytes },
  { name: "transformers.js q8", load: loadTransformers, model: "gpt2-onnx", bytes: transformersBytes },
];

/** @type {Record<string, number>} */
const vocab = JSON.parse(readFileSync(join(root, "tests/data/gpt2-tokenizer/vocab.json"), "utf8"));
/** Words that are one token with the space before them: a text of n of them has n tokens. */
const words = Object.entries(vocab).filter(([token]) => /^Ġ[a-z]{4,}$/.test(token));

function makePrompt(length, salt) {
  const chosen = Array.from(
    { length },
    (_, i) => words[(i * 7919 + salt * 104729) % words.length] ?? /** @type {[string, number]} */ (["", 0]),
  );
  return { ids: chosen.map(([, id]) => id), text: chosen.map(([token]) => token.replace("Ġ", " ")).join("") };
}

const measures = {
  prefill64: { length: 64, tokens: 2, field: "prefill" },
  prefill512: { length: 512, tokens: 2, field: "prefill" },
  decode64: { length: 64, tokens: 48, field: "decode" },
  decode900: { length: 900, tokens: 24, field: "decode" },
};

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** One round of one peer, in a Chromium of its own: wllama does not start where it has run before. */
async function measurePeer({ load, model }, round) {
  const browser = await openBrowser({ "/bench": modelsFolder, "/peers": join(peers, "node_modules") });
  try {
    const page = await browser.openPage();
    await page.evaluate(load, { model, threads });
    for (let salt = 0; salt < 2; ++salt)
      // compiles the hot code
      await page.evaluate(runPeer, { prompt: makePrompt(64, salt), tokens: 24 });
    const sample = {};
    for (const [name, { length, tokens, field }] of Object.entries(measures)) {
      const prompt = makePrompt(length, 100 * round + length);
      sample[name] = (await page.evaluate(runPeer, { prompt, tokens }))[field];
    }
    return { chromium: browser.version, sample };
  } finally {
    await browser.close();
  }
}

async function measure() {
  const samples = new Map(contenders.map((contender) => [contender, /** @type {any[]} */ ([])]));
  let chromium;
  for (let round = 0; round < rounds; ++round) {
    for (const [contender, taken] of samples) {
      console.error(`round ${round + 1}: ${contender.name}`);
      const measured = await measurePeer(contender, round);
      chromium = measured.chromium;
      taken.push(measured.sample);
    }
  }
  const results = [...samples].map(([{ name, bytes }, taken]) => ({
    name,
    runtimeBytes: bytes(),
    ...Object.fromEntries(
      Object.keys(measures).map((key) => [key, median(taken.map((sample) => sample[key]))]),
    ),
  }));
  return { chromium, threads, versions, results };
}

/**
 * What the comparison is for: what, and ours over theirs.
 * @returns {[string, number][]}
 */
function ratiosOf(results) {
  const of = (name) => results.find((result) => result.name === name);
  const [ours8, ours4, wllama8, wllama4, onnx] = contenders.map(({ name }) => of(name));
  const best = (key) => Math.max(wllama8[key], onnx[key]);
  return [
    ["decode at 64, q8 vs transformers.js q8", ours8.decode64 / onnx.decode64],
    ["decode at 64, q8 vs wllama Q8_0", ours8.decode64 / wllama8.decode64],
    ["decode at 64, q4 vs wllama Q4_0", ours4.decode64 / wllama4.decode64],
    ["decode at 900, q8 vs the better", ours8.decode900 / best("decode900")],
    ["prefill of 512, q8 vs the better", ours8.prefill512 / best("prefill512")],
    ["prefill of 64, q8 vs the better", ours8.prefill64 / best("prefill64")],
    ["decode at 64, q4 vs q8", ours4.decode64 / ours8.decode64],
    [
      "runtime (gzip) of the smallest peer vs ours",
      Math.min(wllama8.runtimeBytes, onnx.runtimeBytes) / ours8.runtimeBytes,
    ],
  ];
}

function print({ chromium, results }) {
  const names = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  console.log(
    `\nGPT-2 124M shapes, ${threads} thread(s), Chromium ${chromium}; ${names.join(", ")}; tokens/s`,
  );
  console.log(
    `${"".padEnd(20)} ${Object.keys(measures)
      .map((name) => name.padStart(10))
      .join(" ")} runtime kB`,
  );
  for (const result of results) {
    const cells = Object.keys(measures).map((name) => result[name].toFixed(1).padStart(10));
    console.log(
      `${result.name.padEnd(20)} ${cells.join(" ")} ${(result.runtimeBytes / 1e3).toFixed(0).padStart(10)}`,
    );
  }
  console.log("");
  for (const [what, ratio] of ratiosOf(results))
    console.log(`${what.padEnd(46)} ${ratio.toFixed(2).padStart(6)} x`);
}

installPeers();
buildWeb();
buildPreset("native", { targets: ["gpt2-weights"] });
for (const format of ["q8", "q4"]) makeModel(format);
for (const type of ["Q8_0", "Q4_0"]) {
  const file = join(modelsFolder, `gpt2-${type}.gguf`);
  if (!existsSync(file)) writeGguf(file, gpt2Config, type);
}
const onnx = join(modelsFolder, "gpt2-onnx");
if (!existsSync(onnx)) writeOnnxFolder(onnx, gpt2Config, peers);
const result = await measure();
if (flags.json)
  console.log(JSON.stringify({ ...result, ratios: Object.fromEntries(ratiosOf(result.results)) }, null, 1));
else print(result);
