// Measures how fast contenders read and write: this engine and others, in Chromium and natively. The runs of one table are
// interleaved, so that all of them run under the same load.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { buildSync } from "esbuild";
import { buildPreset, buildWeb, root } from "../../engine/toolchain/build.mjs";
import { aptInstall, benchPackages } from "../../engine/toolchain/system-packages.mjs";
import { downloadBytes } from "../../web/scripts/download-size.mjs";
import { openBrowser } from "./browser.mjs";
import { median } from "./figures.mjs";
import { loadOurs, runPeer } from "./in-page.mjs";
import { installLlama, peersFolder } from "./peers/install.mjs";

/** @import { Flags, Rows, Table } from "./run.mjs" */

/**
 * @typedef {{ name: string, take: (contender: any, flags: Flags, round: number) => Promise<Record<string, number>>,
 *   make: () => string, temporary?: boolean, [option: string]: unknown }} Contender
 */

const measures = {
  "prefill 64": { length: 64, tokens: 2, field: "prefill" },
  "prefill 512": { length: 512, tokens: 2, field: "prefill" },
  "decode 64": { length: 64, tokens: 64, field: "decode" },
  "decode 900": { length: 900, tokens: 48, field: "decode" },
};
/** Runs of each measure in a round. The fastest counts, because other processes can only slow a run down. */
const turns = 3;

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

/** The folder of the page's code that measures what memory allows. */
const floorFolder = join(root, "build/bench/floor");
const buildFloor = () =>
  buildSync({
    entryPoints: [join(root, "web/page/models/readers.ts")],
    outdir: floorFolder,
    bundle: true,
    format: "esm",
  });

/** Runs a contender in a separate Chromium, because wllama does not start a second time in the same browser. */
export async function inChromium({ load, make, options, runtimeBytes }, flags, round) {
  const model = make();
  const browser = await openBrowser(
    {
      "/bench": dirname(model),
      "/floor": floorFolder,
      "/peers": join(peersFolder, "node_modules"),
    },
    flags["js-flags"],
  );
  try {
    const page = await browser.openPage();
    const sample = { "runtime kB": runtimeBytes() / 1e3 };
    const argument = { model: basename(model), threads: flags.threads, ...options };
    const { context = 1024, ...loaded } = (await page.evaluate(load, argument)) ?? {}; // the peers return nothing
    let salt = 100 * round;
    const run = (length, tokens) => page.evaluate(runPeer, { prompt: makePrompt(length, ++salt), tokens });
    const cold = await run(64, 2);
    for (let i = 0; i < 3; ++i) await run(64, 32); // the browser compiles the hot code
    for (const [name, { length, tokens, field }] of Object.entries(measures)) {
      if (length + tokens > context) continue;
      const runs = [];
      for (let turn = 0; turn < turns; ++turn) runs.push(await run(length, tokens));
      sample[name] = Math.max(...runs.map((each) => each[field]));
      if (field === "decode" && runs[0].share)
        sample[`of floor, ${length}`] = median(runs.map(({ share }) => share));
      if (name === "prefill 64") sample["first token ms"] = 64e3 / sample[name];
    }
    return { ...sample, "first token, cold ms": 64e3 / cold.prefill, ...loaded, chromium: browser.version };
  } finally {
    await browser.close();
  }
}

/** Runs llama.cpp in a separate process, with its own prebuilt library for this processor. */
export function inLlama({ make }, { threads }, round) {
  const task = { llama: installLlama(), file: make(), threads, measures, turns, salt: 100 * round };
  const program = join(import.meta.dirname, "llama.mjs");
  return JSON.parse(execFileSync(process.execPath, [program, JSON.stringify(task)], { encoding: "utf8" }));
}

/** Runs this engine natively, which emulates WebAssembly's instructions with SSE4.2. */
export function natively({ make }, { threads }) {
  const { benchmarks } = JSON.parse(
    execFileSync(
      join(root, "build/native/tests/bench/model_bench"),
      [
        `--benchmark_filter=^(Prefill|Decode)/[0-9]+/${threads}/`,
        ...["--benchmark_format=json", "--benchmark_min_time=0.2", `--benchmark_repetitions=${turns}`],
      ],
      { env: { ...process.env, GPT2_BENCH_MODEL: make() }, encoding: "utf8" },
    ),
  );
  const speedOf = (name) =>
    Math.max(
      ...benchmarks
        .filter((each) => each.run_name.startsWith(`${name}/${threads}/`))
        .map((each) => each.items_per_second),
    );
  const names = Object.entries(measures).map(([name, { length, field }]) => [
    name,
    speedOf(`${field === "prefill" ? "Prefill" : "Decode"}/${length}`),
  ]);
  return Object.fromEntries(names);
}

/** @param {Contender[]} contenders @param {Flags} flags @returns {Promise<Table>} */
export async function compare(contenders, flags, rounds = 1, pairs = /** @type {[string, string][]} */ ([])) {
  if (flags.build) {
    aptInstall(benchPackages);
    buildWeb();
    spawnSync("cmake", ["--preset", "native"], { cwd: root, stdio: "ignore" }); // finds a library that was just installed
    buildPreset("native", { targets: ["gpt2-weights", "model_bench"] });
  }
  buildFloor();
  const samples = new Map(contenders.map((each) => [each, /** @type {any[]} */ ([])]));
  for (let round = 0; round < rounds; ++round) {
    for (const [contender, taken] of samples) {
      console.error(`round ${round + 1} of ${rounds}: ${contender.name}`);
      taken.push(await contender.take(contender, flags, round));
      console.error(JSON.stringify(taken.at(-1)));
      if (contender.temporary) rmSync(contender.make(), { recursive: true });
    }
  }
  /** @type {Rows} */
  const rows = {};
  for (const [{ name }, taken] of samples) {
    const columns = Object.entries(taken[0]).filter(([, value]) => typeof value === "number");
    rows[name] = Object.fromEntries(columns.map(([key]) => [key, median(taken.map((each) => each[key]))]));
  }
  /** @type {Rows} */
  const ratios = {};
  for (const [ours, theirs] of pairs) {
    const columns = [...Object.keys(measures), "runtime kB"].map((key) => [
      key,
      (rows[ours]?.[key] ?? NaN) / (rows[theirs]?.[key] ?? NaN),
    ]);
    ratios[`${ours} : ${theirs}`] = Object.fromEntries(columns);
  }
  const chromium = [...samples.values()].flat().find((each) => each.chromium)?.chromium;
  const title = `Tokens per second; ${flags.threads} thread(s); Chromium ${chromium}`;
  return { title, rows, ...(pairs.length > 0 && { ratios }) };
}

/**
 * This engine in Chromium.
 * @param {string} name
 * @param {() => string} make
 * @param {{ variant?: string, threads?: number, lookup?: boolean, n?: number }} [options]
 * @returns {Contender}
 */
export const ours = (name, make, { variant = "threads-relaxed", ...options } = {}, more = {}) => ({
  name,
  take: inChromium,
  load: loadOurs,
  make,
  options: { variant, ...options },
  runtimeBytes: () => downloadBytes(variant),
  ...more,
});
