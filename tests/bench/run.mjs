// `npm run bench`: GPT-2 124M's shapes with random weights, in headless Chromium and natively.
// Options: -- --json prints one JSON object; --quick measures only the default build, with all cores;
// --weights q4 (or q8, f32; may be repeated) instead of all of them. --model FOLDER measures that model in Chromium, as
// far as its context reaches.
import { spawnSync } from "node:child_process";
import { basename, dirname, join, resolve } from "node:path";
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
    model: { type: "string" },
  },
});
const given = flags.model === undefined ? undefined : resolve(flags.model);
/** Folders of models that "/bench/" serves. */
const models = given === undefined ? flags.weights.map((format) => `gpt2-${format}`) : [basename(given)];

/** Builds and threads to measure: all for q8 and for a model that was given, the default build for f32. */
function setups(model) {
  const [fastest, ...others] = ["threads-relaxed", "threads", "simd-relaxed", "simd"];
  if (flags.quick) return [[fastest, 2]];
  const builds =
    model === "gpt2-f32" ? [fastest] : model === "gpt2-q4" ? [fastest, others[0]] : [fastest, ...others];
  return builds.flatMap((build) => (build.startsWith("threads") ? [2, 1] : [1]).map((n) => [build, n]));
}

/** Of what a model's context has no room for there is no figure. */
const number = (value, digits = 0) => value?.toFixed(digits) ?? "–";
const percent = (share) => (share === undefined ? "–" : `${number(100 * share)} %`);

/** @type {[string, number, (run: any) => unknown][]} */
const columns = [
  ["build", 16, (run) => run.variant],
  ["weights", 7, (run) => run.weights],
  ["threads", 7, (run) => run.threads],
  ["prefill64", 9, (run) => number(run.prefill64)],
  ["prefill512", 10, (run) => number(run.prefill512)],
  ["decode64", 8, (run) => number(run.decode64)],
  ["of floor", 8, (run) => percent(run.shareOfFloor64)],
  ["decode900", 9, (run) => number(run.decode900)],
  ["of floor", 8, (run) => percent(run.shareOfFloor900)],
  ["floor GB/s", 10, (run) => (run.floorMBs64 / 1e3).toFixed(1)],
  ["3 at once", 9, (run) => `${run.threeAtOnce.toFixed(2)} x`],
  ["8 at once", 9, (run) => `${run.eightAtOnce.toFixed(2)} x`],
  ["cold ms", 7, (run) => run.firstTokenColdMs.toFixed(0)],
  ["warm ms", 7, (run) => run.firstTokenWarmMs.toFixed(0)],
  ["load ms", 7, (run) => run.loadMs.toFixed(0)],
  ["weights MB", 10, (run) => (run.weightBytes / 1e6).toFixed(0)],
  ["memory MB", 9, (run) => (run.memoryBytes / 1e6).toFixed(0)],
  ["runtime kB", 10, (run) => (run.runtimeBytes / 1e3).toFixed(0)],
];
const header = columns.map(([title, width]) => title.padStart(width)).join(" ");
const row = (run) => columns.map(([, width, value]) => String(value(run)).padStart(width)).join(" ");

async function measureInChromium() {
  const browser = await openBrowser({
    "/bench": given === undefined ? modelsFolder : dirname(given),
    "/floor": join(root, "build/wasm/tests/bench"),
  });
  try {
    const discardMs = await browser.inPage(fetchAndDiscard, `bench/${models[0]}/`);
    const runs = [];
    console.error(header);
    for (const model of models) {
      for (const [variant, threads] of setups(model)) {
        const run = await browser.inPage(measureModel, {
          folder: `bench/${model}/`,
          variant,
          threads,
          floorUrl: "floor/floor.mjs",
        });
        runs.push({ ...run, runtimeBytes: downloadBytes(variant) });
        console.error(row(runs.at(-1))); // what was measured is not lost where the rest is
      }
    }
    const lookup = {};
    const texts = given === undefined ? { repeating: "gpt2-q8-echo", other: "gpt2-q8" } : {};
    for (const [text, folder] of Object.entries(texts))
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
  const what = given === undefined ? "GPT-2 124M shapes" : models[0];
  console.log(`\n${what}, Chromium ${browser.chromium}; tokens/s, to the first token of 64 in ms`);
  console.log(header);
  for (const run of browser.runs) console.log(row(run));
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
if (given === undefined) {
  for (const format of new Set([...flags.weights, "q8"])) makeModel(format);
  makeModel("q8", "gpt2-q8-echo", ["--echo"]);
}
const result = {
  browser: await measureInChromium(),
  native: flags.quick || given !== undefined ? [] : flags.weights.flatMap(measureNatively),
};
if (flags.json) console.log(JSON.stringify(result, null, 1));
else print(result);
