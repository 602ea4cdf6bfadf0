// `npm run bench`: GPT-2 124M's shapes with random weights, in headless Chromium and natively.
// Options: -- --json prints one JSON object; --quick measures the default build of the engine alone.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPreset, buildWeb, root } from "../../engine/toolchain/build.mjs";
import { aptInstall, benchPackages } from "../../engine/toolchain/system-packages.mjs";
import { downloadBytes } from "../../web/scripts/download-size.mjs";

const { values: flags } = parseArgs({
  options: { json: { type: "boolean", default: false }, quick: { type: "boolean", default: false } },
});
const models = join(root, "build/bench/models");
const tool = join(root, "build/native/weights_tools/gpt2-weights");
const config = {
  model_type: "gpt2",
  activation_function: "gelu_new",
  n_layer: 12,
  n_head: 12,
  n_embd: 768,
  n_positions: 1024,
  vocab_size: 50257,
  layer_norm_epsilon: 1e-5,
  eos_token_id: 50256,
};

function makeModel(format) {
  const folder = join(models, `gpt2-${format}`);
  if (existsSync(join(folder, "weights.json"))) return folder;
  mkdirSync(models, { recursive: true });
  const file = join(models, "config.json");
  writeFileSync(file, JSON.stringify(config));
  execFileSync(tool, ["random", file, folder, "--weights", format, "--seed", "1", "--force"], {
    stdio: ["ignore", 2, 2],
  });
  return folder;
}

/** Runs in the page: loads the model and measures it. */
async function measureInPage({ folder, variant, threads }) {
  const { loadModel } = await import(new URL("gpt2.js", location.href).href);
  const start = performance.now();
  const model = await loadModel(folder, { variant, threads });
  const loadMs = performance.now() - start;
  const { vocabSize } = model.info.config;
  let salt = 0;
  const prompt = (length) => (
    salt++,
    Array.from({ length }, (_, i) => (i * 7919 + salt * 104729) % (vocabSize - 1))
  );
  const run = (length, maxNewTokens) =>
    model.complete(prompt(length), { maxNewTokens, ignoreEos: true, seed: 1 });
  const firstTokenColdMs = loadMs + (await run(64, 1)).timings.firstTokenMs;
  await run(16, 32); // by now the browser has compiled the hot code for good
  const best = async (count, measure) => {
    let most = 0;
    for (let i = 0; i < count; ++i) most = Math.max(most, await measure());
    return most;
  };
  const firstTokenWarmMs = (await run(64, 1)).timings.firstTokenMs;
  const result = {
    variant,
    threads,
    loadMs,
    firstTokenColdMs,
    firstTokenWarmMs,
    prefill64: await best(3, async () => (await run(64, 1)).timings.promptTokensPerSecond),
    prefill512: await best(2, async () => (await run(512, 1)).timings.promptTokensPerSecond),
    decode64: await best(3, async () => (await run(64, 64)).timings.decodedTokensPerSecond),
    decode900: await best(2, async () => (await run(900, 48)).timings.decodedTokensPerSecond),
    memoryBytes: model.info.memoryBytes,
    weightBytes: model.info.weightBytes,
  };
  await model.dispose();
  return result;
}

/** Runs in the page: fetches the same bytes in a worker and throws them away. */
async function fetchAndDiscard(folder) {
  const source = `onmessage = async ({ data }) => {
    const start = performance.now();
    const { pieces } = await (await fetch(data + "weights.json")).json();
    for (const { path } of pieces) {
      const reader = (await fetch(data + path)).body.getReader();
      while (!(await reader.read()).done);
    }
    postMessage(performance.now() - start);
  }`;
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  const ms = await new Promise((done) => {
    worker.onmessage = ({ data }) => done(data);
    worker.postMessage(new URL(folder, location.href).href);
  });
  worker.terminate();
  return ms;
}

/** Runs in the page: megabytes per second of a wasm SIMD sum with these threads. */
async function measureFloor({ url, threads, bytes }) {
  const { default: create } = await import(new URL(url, location.href).href);
  const module = await create();
  const floor = module._floor_create(threads, bytes);
  module._floor_run(floor, 3);
  let best = Infinity;
  for (let i = 0; i < 5; ++i) best = Math.min(best, module._floor_run(floor, 4) / 4);
  return bytes / 1e3 / best;
}

async function measureInChromium() {
  const [{ chromium }, { preview }, { default: sirv }] = await Promise.all([
    import("@playwright/test"),
    import("vite"),
    import("sirv"),
  ]);
  const server = await preview({
    configFile: join(root, "web/vite.config.ts"),
    preview: { port: 4185 },
    plugins: [
      {
        name: "bench-files",
        configurePreviewServer({ middlewares }) {
          const headers = (response) => {
            response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
            response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
          };
          middlewares.use("/bench", sirv(models, { setHeaders: headers }));
          middlewares.use("/floor", sirv(join(root, "build/wasm/tests/bench"), { setHeaders: headers }));
        },
      },
    ],
  });
  const debianChromium = "/usr/bin/chromium";
  const browser = await chromium.launch({
    ...(existsSync(debianChromium) ? { executablePath: debianChromium } : {}),
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  const inPage = async (measure, argument) => {
    const page = await browser.newPage();
    try {
      await page.goto("http://localhost:4185/?model=none");
      return await page.evaluate(measure, argument);
    } finally {
      await page.close();
    }
  };
  try {
    const result = {
      chromium: browser.version(),
      discardMs: await inPage(fetchAndDiscard, "bench/gpt2-q8/"),
      floorMBs: {},
      runs: [],
    };
    const bytes = 132 * 1024 * 1024;
    for (const threads of [1, 2])
      result.floorMBs[threads] = await inPage(measureFloor, { url: "floor/floor.mjs", threads, bytes });
    const variants = flags.quick
      ? ["threads-relaxed"]
      : ["threads-relaxed", "threads", "simd-relaxed", "simd"];
    for (const variant of variants) {
      for (const threads of variant.startsWith("threads") ? [2, 1] : [1]) {
        const run = await inPage(measureInPage, { folder: "bench/gpt2-q8/", variant, threads });
        const floor = (result.floorMBs[threads] * 1e6) / run.weightBytes; // tokens/s if only weights were read
        result.runs.push({
          ...run,
          weights: "q8",
          shareOfFloor: run.decode64 / floor,
          runtimeBytes: downloadBytes(variant),
        });
      }
    }
    return result;
  } finally {
    await browser.close();
    await new Promise((done) => server.httpServer.close(done));
  }
}

function measureNatively() {
  const { stdout } = spawnSync(
    join(root, "build/native/tests/bench/model_bench"),
    ["--benchmark_format=json"],
    {
      env: { ...process.env, GPT2_BENCH_MODEL: join(models, "gpt2-q8") },
      encoding: "utf8",
      maxBuffer: 1 << 26,
    },
  );
  return JSON.parse(stdout).benchmarks.map(({ name, items_per_second }) => ({
    name,
    tokensPerSecond: items_per_second,
  }));
}

function print({ browser, native }) {
  const n = (value) => value.toFixed(0).padStart(9);
  console.log(`\nGPT-2 124M shapes, q8, Chromium ${browser.chromium}; tokens/s`);
  console.log(
    "build            threads  prefill64 prefill512  decode64 decode900  of floor   load ms  first ms   memory MB  runtime kB",
  );
  for (const run of browser.runs) {
    console.log(
      `${run.variant.padEnd(16)} ${String(run.threads).padStart(7)} ${n(run.prefill64)}  ${n(run.prefill512)} ${n(run.decode64)} ${n(run.decode900)} ` +
        `${(100 * run.shareOfFloor).toFixed(0).padStart(7)} % ${n(run.loadMs)} ${n(run.firstTokenWarmMs)}   ${n(run.memoryBytes / 1e6)}   ${n(run.runtimeBytes / 1e3)}`,
    );
  }
  console.log(`fetching and discarding the weights: ${browser.discardMs.toFixed(0)} ms`);
  for (const [threads, speed] of Object.entries(browser.floorMBs))
    console.log(`floor with ${threads} thread(s): ${(speed / 1e3).toFixed(1)} GB/s`);
  console.log("\nnative (SIMDe, SSE4.2)");
  for (const { name, tokensPerSecond } of native)
    console.log(`${name.padEnd(28)} ${n(tokensPerSecond)} tokens/s`);
}

aptInstall(benchPackages);
buildWeb();
spawnSync("cmake", ["--preset", "native"], { cwd: root, stdio: "ignore" }); // finds a library that was just installed
buildPreset("native", { targets: ["gpt2-weights", "model_bench"] });
buildPreset("wasm", { targets: ["floor"] });
makeModel("q8");
const result = { browser: await measureInChromium(), native: measureNatively() };
if (flags.json) console.log(JSON.stringify(result, null, 1));
else print(result);
