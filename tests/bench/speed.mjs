// Tokens per second of GPT-2's shapes with random weights: of this engine's builds, of every size, and beside other engines.
// All that one table compares is measured in turn, so that it sees the same machine.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { buildPreset, buildWeb, root } from "../../engine/toolchain/build.mjs";
import { aptInstall, benchPackages } from "../../engine/toolchain/system-packages.mjs";
import { downloadBytes } from "../../web/scripts/download-size.mjs";
import { openBrowser } from "./browser.mjs";
import { median } from "./figures.mjs";
import { loadOurs, loadTransformers, loadWllama, runPeer } from "./in-page.mjs";
import { gpt2Config, gpt2Sizes, makeModel, modelsFolder } from "./models.mjs";
import { writeRandomGguf } from "./peers/gguf.mjs";
import { installLlama, installPeers, llamaVersion, peersFolder, peerVersions } from "./peers/install.mjs";
import { writeOnnxFolder } from "./peers/onnx.mjs";

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

/** The page's own measure of what memory allows. */
const floorFolder = join(root, "build/bench/floor");
const buildFloor = () =>
  buildSync({
    entryPoints: [join(root, "web/page/models/readers.ts")],
    outdir: floorFolder,
    bundle: true,
    format: "esm",
  });

/** In a separate Chromium: wllama does not start a second time in the same browser. */
async function inChromium({ load, make, options, runtimeBytes }, flags, round) {
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

/** llama.cpp, in a separate process, with its own prebuilt library for this processor. */
function inLlama({ make }, { threads }, round) {
  const task = { llama: installLlama(), file: make(), threads, measures, turns, salt: 100 * round };
  const program = join(import.meta.dirname, "llama.mjs");
  return JSON.parse(execFileSync(process.execPath, [program, JSON.stringify(task)], { encoding: "utf8" }));
}

/** This engine natively, which emulates WebAssembly's instructions with SSE4.2. */
function natively({ make }, { threads }) {
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
async function compare(contenders, flags, rounds = 1, pairs = /** @type {[string, string][]} */ ([])) {
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
const ours = (name, make, { variant = "threads-relaxed", ...options } = {}, more = {}) => ({
  name,
  take: inChromium,
  load: loadOurs,
  make,
  options: { variant, ...options },
  runtimeBytes: () => downloadBytes(variant),
  ...more,
});

export const builds = {
  about:
    "GPT-2 124M's shapes in every build: prefill, decode, share of what memory allows, first token, load, memory",
  /** @param {Flags} flags */
  measure(flags) {
    const threads = flags.quick ? [flags.threads] : [flags.threads, 1];
    const all = ["threads-relaxed", "threads", "simd-relaxed", "simd"].slice(0, flags.quick ? 1 : 4);
    const model = flags.model === undefined ? undefined : resolve(flags.model);
    const formats = model === undefined ? (flags.weights ?? ["q8", "q4", "f32"]) : [basename(model)];
    const contenders = formats.flatMap((weights) =>
      all.flatMap((variant) =>
        (variant.startsWith("threads") ? threads : [1]).map((count) =>
          ours(`${weights}, ${variant}, ${count}`, () => model ?? makeModel(weights), {
            variant,
            threads: count,
          }),
        ),
      ),
    );
    if (model !== undefined || flags.quick) return compare(contenders, flags, flags.rounds);
    const q8 = `q8, threads-relaxed, ${flags.threads}`;
    contenders.push(
      ours("a text that repeats itself, with lookup", () => makeModel("q8", "gpt2-q8-echo", ["--echo"]), {
        lookup: true,
      }),
      ours("another text, with lookup", () => makeModel("q8"), { lookup: true }),
      ours("three continuations at once", () => makeModel("q8"), { n: 3 }),
      ours("eight continuations at once", () => makeModel("q8"), { n: 8 }),
    );
    const pairs = contenders.slice(-4).map(({ name }) => /** @type {[string, string]} */ ([name, q8]));
    return compare(contenders, flags, flags.rounds, pairs);
  },
};

export const sizes = {
  about: "GPT-2 from 124M to 1.5B in Chromium: load, memory, first token, decode",
  /** @param {Flags} flags */
  measure: (flags) =>
    compare(
      (flags.size ?? Object.keys(gpt2Sizes)).flatMap((size) =>
        (flags.weights ?? ["q8", "q4"]).map((weights) =>
          ours(
            `${size}, ${weights}`,
            () => makeModel(weights, `gpt2-${size}-${weights}`, [], gpt2Sizes[size]),
            {},
            { temporary: true },
          ),
        ),
      ),
      flags,
      flags.rounds,
    ),
};

const gzipBytes = (...files) =>
  files.reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(peersFolder, "node_modules", file)), { level: 9 }).length,
    0,
  );

function ggufOf(type) {
  const file = join(modelsFolder, `gpt2-${type}.gguf`);
  if (!existsSync(file)) writeRandomGguf(file, type);
  return file;
}

function onnx() {
  const folder = join(modelsFolder, "gpt2-onnx");
  if (!existsSync(folder)) writeOnnxFolder(folder, gpt2Config, peersFolder);
  return folder;
}

/** @returns {Contender} */
const wllama = (type) => ({
  name: `wllama ${type}`,
  take: inChromium,
  load: loadWllama,
  make: () => ggufOf(type),
  runtimeBytes: () => gzipBytes("@wllama/wllama/esm/index.min.js", "@wllama/wllama/esm/wasm/wllama.wasm"),
});

export const peers = {
  about: "124M's shapes beside wllama and transformers.js, each in a Chromium of its own",
  /** @param {Flags} flags */
  async measure(flags) {
    installPeers();
    const [q8, q4] = ["q8", "q4"].map((weights) => ours(`gpt2-wasm ${weights}`, () => makeModel(weights)));
    const transformers = {
      name: "transformers.js q8",
      take: inChromium,
      load: loadTransformers,
      make: onnx,
      runtimeBytes: () =>
        gzipBytes(
          "@huggingface/transformers/dist/transformers.min.js",
          "onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.mjs",
          "onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.wasm",
        ),
    };
    const contenders = /** @type {Contender[]} */ ([q8, q4, wllama("Q8_0"), wllama("Q4_0"), transformers]);
    const table = await compare(contenders, flags, flags.rounds ?? 3, [
      ["gpt2-wasm q8", "transformers.js q8"],
      ["gpt2-wasm q8", "wllama Q8_0"],
      ["gpt2-wasm q4", "wllama Q4_0"],
      ["gpt2-wasm q4", "gpt2-wasm q8"],
    ]);
    const versions = Object.entries(peerVersions).map(([name, version]) => `${name} ${version}`);
    return { ...table, title: `${table.title}; ${versions.join(", ")}` };
  },
};

export const native = {
  about: "124M's shapes beside llama.cpp compiled for this processor: ours in Chromium and natively",
  /** @param {Flags} flags */
  async measure(flags) {
    const formats = Object.entries({ q8: "Q8_0", q4: "Q4_0" });
    const contenders = formats.flatMap(([weights, type]) => [
      { name: `llama.cpp ${type}, native`, take: inLlama, make: () => ggufOf(type) },
      ours(`gpt2-wasm ${weights}, Chromium`, () => makeModel(weights)),
      { name: `gpt2-wasm ${weights}, native`, take: natively, make: () => makeModel(weights) },
    ]);
    const pairs = formats.flatMap(([weights, type]) =>
      ["Chromium", "native"].map(
        (where) =>
          /** @type {[string, string]} */ ([`gpt2-wasm ${weights}, ${where}`, `llama.cpp ${type}, native`]),
      ),
    );
    const table = await compare(/** @type {any[]} */ (contenders), flags, flags.rounds ?? 3, pairs);
    return { ...table, title: `${table.title}; node-llama-cpp ${llamaVersion}` };
  },
};
