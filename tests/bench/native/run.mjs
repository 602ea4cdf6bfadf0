// `npm run bench:native`: runs llama.cpp natively, this engine in Chromium and this engine natively, in turn, on GPT-2
// 124M's shapes with random weights. llama.cpp is node-llama-cpp's prebuilt library, which uses what this processor has.
// Installs node-llama-cpp into build/peers. Options: -- --json; --threads 1 (2); --rounds 5 (3); --no-build: measures
// what is built and made already.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPreset, buildWeb, root } from "../../../engine/toolchain/build.mjs";
import { aptInstall, benchPackages } from "../../../engine/toolchain/system-packages.mjs";
import { openBrowser } from "../browser.mjs";
import { median, tableOf } from "../figures.mjs";
import { gpt2Config, makeModel, modelsFolder } from "../models.mjs";
import { writeGguf } from "../peers/gguf.mjs";
import { loadOurs, runPeer } from "../peers/in-page.mjs";
import { installLlama, llamaVersion } from "../peers/install.mjs";

const { values: flags } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    threads: { type: "string", default: "2" },
    rounds: { type: "string", default: "3" },
    build: { type: "boolean", default: true },
  },
  allowNegative: true,
});
/** @param {"threads" | "rounds"} option @param {number} most */
const countOf = (option, most = Infinity) => {
  const count = Number(flags[option]);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  console.error(
    `bench:native: --${option} is a whole number from 1 ${most < Infinity ? `to ${most}` : "on"}, not "${flags[option]}"`,
  );
  process.exit(2);
};
const threads = countOf("threads", 2); // with which model_bench measures
const rounds = countOf("rounds");

const measures = {
  prefill64: { length: 64, tokens: 2, field: "prefill" },
  prefill512: { length: 512, tokens: 2, field: "prefill" },
  decode64: { length: 64, tokens: 64, field: "decode" },
  decode900: { length: 900, tokens: 48, field: "decode" },
};
/** @typedef {Record<keyof typeof measures, number>} Sample Tokens per second. */

/** Each of them this often in a round, the best of which counts: a shared machine is only ever slower than it is. */
const turns = 3;
const best = (values) => Math.max(...values);

/** llama.cpp, in a process of its own, which also its node binding takes a part of. */
function measureLlama(model, llama, round) {
  const program = join(import.meta.dirname, "llama.mjs");
  const task = JSON.stringify({
    llama,
    file: join(modelsFolder, model),
    threads,
    measures,
    turns,
    salt: 100 * round,
  });
  return JSON.parse(execFileSync(process.execPath, [program, task], { encoding: "utf8" }));
}

/** This engine in a Chromium of its own. */
async function measureInChromium(model, _, round) {
  const browser = await openBrowser({ "/bench": modelsFolder });
  try {
    const page = await browser.openPage();
    await page.evaluate(loadOurs, { model: `bench/${model}/`, threads });
    let salt = 100 * round;
    const promptOf = (length) => (
      salt++,
      { ids: Array.from({ length }, (_, i) => (i * 7919 + salt * 104729) % 50000) }
    );
    // The browser compiles the hot code.
    for (let i = 0; i < 3; ++i) await page.evaluate(runPeer, { prompt: promptOf(64), tokens: 32 });
    const sample = {};
    for (const [name, { length, tokens, field }] of Object.entries(measures)) {
      const runs = [];
      for (let turn = 0; turn < turns; ++turn)
        runs.push((await page.evaluate(runPeer, { prompt: promptOf(length), tokens }))[field]);
      sample[name] = best(runs);
    }
    return { ...sample, version: browser.version };
  } finally {
    await browser.close();
  }
}

/** This engine natively, which emulates WebAssembly's instructions with SSE4.2. */
function measureNatively(model) {
  const benchmarks = JSON.parse(
    execFileSync(
      join(root, "build/native/tests/bench/model_bench"),
      [
        `--benchmark_filter=^(Prefill|Decode)/[0-9]+/${threads}/`,
        "--benchmark_format=json",
        "--benchmark_min_time=0.2",
        `--benchmark_repetitions=${turns}`,
      ],
      { env: { ...process.env, GPT2_BENCH_MODEL: join(modelsFolder, model) }, encoding: "utf8" },
    ),
  ).benchmarks;
  const speedOf = (name) =>
    best(
      benchmarks
        .filter((each) => each.run_name.startsWith(`${name}/${threads}/`))
        .map((each) => each.items_per_second),
    );
  return {
    prefill64: speedOf("Prefill/64"),
    prefill512: speedOf("Prefill/512"),
    decode64: speedOf("Decode/64"),
    decode900: speedOf("Decode/900"),
  };
}

/** Who is measured: how, with what, and what llama.cpp has of the same bits. */
const contenders = [
  { name: "llama.cpp Q8_0, native", measure: measureLlama, model: "gpt2-Q8_0.gguf", anchor: undefined },
  { name: "gpt2-wasm q8, Chromium", measure: measureInChromium, model: "gpt2-q8", anchor: "Q8_0" },
  { name: "gpt2-wasm q8, native", measure: measureNatively, model: "gpt2-q8", anchor: "Q8_0" },
  { name: "llama.cpp Q4_0, native", measure: measureLlama, model: "gpt2-Q4_0.gguf", anchor: undefined },
  { name: "gpt2-wasm q4, Chromium", measure: measureInChromium, model: "gpt2-q4", anchor: "Q4_0" },
  { name: "gpt2-wasm q4, native", measure: measureNatively, model: "gpt2-q4", anchor: "Q4_0" },
];

async function measure(llama) {
  const taken = new Map(contenders.map(({ name }) => [name, /** @type {any[]} */ ([])]));
  for (let round = 0; round < rounds; ++round) {
    for (const { name, measure: take, model } of contenders) {
      console.error(`round ${round + 1} of ${rounds}: ${name}`);
      taken.get(name)?.push(await take(model, llama, round));
    }
  }
  const all = [...taken.values()].flat();
  const results = contenders.map(({ name, anchor }) => {
    const samples = taken.get(name) ?? [];
    const speeds = Object.keys(measures).map((key) => [key, median(samples.map((sample) => sample[key]))]);
    return { name, anchor, ...Object.fromEntries(speeds) };
  });
  return {
    threads,
    rounds,
    chromium: all.find(({ version }) => version)?.version,
    llama: { version: llamaVersion, system: all.find(({ system }) => system)?.system },
    results,
  };
}

/** Each of ours over llama.cpp with weights of the same bits. */
function ratiosOf(results) {
  return results
    .filter(({ anchor }) => anchor)
    .map(({ name, anchor, ...speeds }) => {
      const theirs = results.find((each) => each.name === `llama.cpp ${anchor}, native`);
      const ratios = Object.keys(measures).map((key) => [key, speeds[key] / theirs[key]]);
      return { name: `${name} : llama.cpp ${anchor}`, ...Object.fromEntries(ratios) };
    });
}

function print({ chromium, llama, results }) {
  const heads = ["prefill of 64", "of 512", "decode at 64", "at 900"];
  const rowsOf = (each, digits) => [
    each.name,
    ...Object.keys(measures).map((key) => each[key].toFixed(digits)),
  ];
  console.log(
    `\nGPT-2 124M shapes, ${threads} thread(s); Chromium ${chromium}; node-llama-cpp ${llama.version}\n`,
  );
  console.log(
    tableOf(
      ["tokens per second", ...heads],
      results.map((each) => rowsOf(each, 0)),
    ),
  );
  console.log(
    tableOf(
      ["ratio", ...heads],
      ratiosOf(results).map((each) => rowsOf(each, 2)),
    ),
  );
  console.log(`llama.cpp says of itself: ${llama.system}`);
}

const llama = installLlama();
if (flags.build) {
  aptInstall(benchPackages);
  buildWeb();
  buildPreset("native", { targets: ["gpt2-weights", "model_bench"] });
  for (const format of ["q8", "q4"]) makeModel(format);
  for (const type of ["Q8_0", "Q4_0"]) {
    const file = join(modelsFolder, `gpt2-${type}.gguf`);
    if (!existsSync(file)) writeGguf(file, gpt2Config, type);
  }
}
const result = await measure(llama);
if (flags.json) console.log(JSON.stringify({ ...result, ratios: ratiosOf(result.results) }, null, 1));
else print(result);
