// `npm run bench`: GPT-2 124M's shapes with random weights, in headless Chromium and natively.
// Options: -- --json prints one JSON object; --quick measures only the default build, with all cores;
// --weights q4 (or q8, f32; may be repeated) instead of all of them.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPreset, buildWeb, root } from "../../engine/toolchain/build.mjs";
import { aptInstall, benchPackages } from "../../engine/toolchain/system-packages.mjs";
import { downloadBytes } from "../../web/scripts/download-size.mjs";
import { openBrowser } from "./browser.mjs";
import { fetchAndDiscard, measureLookup, measureModel } from "./in-page.mjs";
import { makeModel, modelsFolder } from "./models.mjs";

const { values: flags } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    weights: { type: "string", multiple: true, default: ["q8", "q4", "f32"] },
  },
});

/** Builds and threads to measure for a format: all for q8, the default build for the others. */
function setups(format) {
  const [fastest, ...others] = ["threads-relaxed", "threads", "simd-relaxed", "simd"];
  if (flags.quick) return [[fastest, 2]];
  const builds = format === "q8" ? [fastest, ...others] : format === "q4" ? [fastest, others[0]] : [fastest];
  return builds.flatMap((build) => (build.startsWith("threads") ? [2, 1] : [1]).map((n) => [build, n]));
}

async function measureInChromium() {
  const browser = await openBrowser({
    "/bench": modelsFolder,
    "/floor": join(root, "build/wasm/tests/bench"),
  });
  try {
    const discardMs = await browser.inPage(fetchAndDiscard, `bench/gpt2-${flags.weights[0]}/`);
    const runs = [];
    for (const format of flags.weights) {
      for (const [variant, threads] of setups(format)) {
        const folder = `bench/gpt2-${format}/`;
        const run = await browser.inPage(measureModel, {
          folder,
          variant,
          threads,
          floorUrl: "floor/floor.mjs",
        });
        runs.push({ ...run, runtimeBytes: downloadBytes(variant) });
        console.error(`measured ${format} in ${variant} with ${threads} thread(s)`);
      }
    }
    const lookup = {};
    for (const [text, folder] of Object.entries({ repeating: "gpt2-q8-echo", other: "gpt2-q8" }))
      lookup[text] = await browser.inPage(measureLookup, { folder: `bench/${folder}/`, threads: 2 });
    return { chromium: browser.version, discardMs, runs, lookup };
  } finally {
    await browser.close();
  }
}

function measureNatively(format) {
  const { stdout } = spawnSync(
    join(root, "build/native/tests/bench/model_bench"),
    ["--benchmark_format=json"],
    {
      env: { ...process.env, GPT2_BENCH_MODEL: join(modelsFolder, `gpt2-${format}`) },
      encoding: "utf8",
      maxBuffer: 1 << 26,
    },
  );
  return JSON.parse(stdout).benchmarks.map(({ name, items_per_second }) => ({
    name: `${format}/${name}`,
    tokensPerSecond: items_per_second,
  }));
}

function print({ browser, native }) {
  /** @type {[string, number, (run: any) => unknown][]} */
  const columns = [
    ["build", 16, (run) => run.variant],
    ["weights", 7, (run) => run.weights],
    ["threads", 7, (run) => run.threads],
    ["prefill64", 9, (run) => run.prefill64.toFixed(0)],
    ["prefill512", 10, (run) => run.prefill512.toFixed(0)],
    ["decode64", 8, (run) => run.decode64.toFixed(0)],
    ["of floor", 8, (run) => `${(100 * run.shareOfFloor64).toFixed(0)} %`],
    ["decode900", 9, (run) => run.decode900.toFixed(0)],
    ["of floor", 8, (run) => `${(100 * run.shareOfFloor900).toFixed(0)} %`],
    ["floor GB/s", 10, (run) => (run.floorMBs64 / 1e3).toFixed(1)],
    ["3 at once", 9, (run) => `${run.threeAtOnce.toFixed(2)} x`],
    ["cold ms", 7, (run) => run.firstTokenColdMs.toFixed(0)],
    ["warm ms", 7, (run) => run.firstTokenWarmMs.toFixed(0)],
    ["load ms", 7, (run) => run.loadMs.toFixed(0)],
    ["weights MB", 10, (run) => (run.weightBytes / 1e6).toFixed(0)],
    ["memory MB", 9, (run) => (run.memoryBytes / 1e6).toFixed(0)],
    ["runtime kB", 10, (run) => (run.runtimeBytes / 1e3).toFixed(0)],
  ];
  console.log(`\nGPT-2 124M shapes, Chromium ${browser.chromium}; tokens/s, to the first token of 64 in ms`);
  console.log(columns.map(([title, width]) => title.padStart(width)).join(" "));
  for (const run of browser.runs)
    console.log(columns.map(([, width, value]) => String(value(run)).padStart(width)).join(" "));
  console.log(`fetching and discarding the first weights: ${browser.discardMs.toFixed(0)} ms`);
  for (const [text, { speedup, accepted }] of Object.entries(browser.lookup))
    console.log(
      `lookup decoding, q8, ${text} text: ${speedup.toFixed(2)} x, ${(100 * accepted).toFixed(0)} % of the tokens were guessed`,
    );
  if (native.length > 0) console.log("\nnative (SIMDe, SSE4.2)");
  for (const { name, tokensPerSecond } of native)
    console.log(`${name.padEnd(28)} ${tokensPerSecond.toFixed(0).padStart(9)} tokens/s`);
}

aptInstall(benchPackages);
buildWeb();
spawnSync("cmake", ["--preset", "native"], { cwd: root, stdio: "ignore" }); // finds a library that was just installed
buildPreset("native", { targets: ["gpt2-weights", "model_bench"] });
buildPreset("wasm", { targets: ["floor"] });
for (const format of new Set([...flags.weights, "q8"])) makeModel(format);
makeModel("q8", "gpt2-q8-echo", ["--echo"]);
const result = {
  browser: await measureInChromium(),
  native: flags.quick ? [] : flags.weights.flatMap(measureNatively),
};
if (flags.json) console.log(JSON.stringify(result, null, 1));
else print(result);
