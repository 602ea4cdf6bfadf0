// The list of benchmarks. Each has contenders, whose runs are interleaved, so that all of them run under the same load.
import { readFileSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { downloadBytes } from "../support/download-size.mjs";
import { gpt2Sizes, made, makeGguf, makeHubModel, makeModel, makePrompt } from "./models.mjs";
import { installPeers, llamaVersion, peersFolder, peerVersions } from "./peers/install.mjs";
import { askLlama } from "./peers/llama.mjs";
import { writeOnnxFolder } from "./peers/onnx.mjs";
import { inTab, makeProfile, removeProfile } from "./tab.mjs";

/**
 * `take` measures once: figures by column. Each pair of `pairs` names two contenders whose speeds are divided.
 * @typedef {{ threads: number, rate?: string, quick: boolean, weights?: string[], size?: string[], model?: string, "js-flags"?: string }} Flags
 * @typedef {{ name: string, take: (round: number) => Promise<Record<string, number>> }} Contender
 * @typedef {{ about: string, rounds?: number, versions?: Record<string, string>, pairs?: string[][], contenders: (flags: Flags) => Contender[] }} Benchmark
 */

/** The columns of speeds. */
export const measures = {
  "prefill 64": { length: 64, tokens: 2, field: "prefill" },
  "prefill 512": { length: 512, tokens: 2, field: "prefill" },
  "decode 64": { length: 64, tokens: 64, field: "decode" },
  "decode 900": { length: 900, tokens: 48, field: "decode" },
};
/** Runs of each measure in a round. The fastest counts, because other processes can only slow a run down. */
const turns = 3;

/** @param {readonly number[]} values */
export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

/** A contender in a separate Chromium, because wllama does not start a second time in the same one. @returns {Contender} */
const inChromium = (flags, name, { load, make, runtimeBytes, options = {} }) => ({
  name,
  async take(round) {
    const folders = {
      "/model": await make(),
      "/peers/": join(peersFolder, "node_modules"),
    };
    const use = async ({ ask }) => {
      const { context = 1024, ...loaded } = await ask(load, { threads: flags.threads, ...options });
      let salt = 100 * round;
      const run = (length, tokens) => ask("run", { prompt: makePrompt(length, ++salt), tokens });
      const cold = await run(64, 2);
      for (let i = 0; i < 3; ++i) await run(64, 32); // the browser compiles the hot code
      const sample = { "runtime kB": runtimeBytes() / 1e3 };
      for (const [column, { length, tokens, field }] of Object.entries(measures)) {
        if (length + tokens > context) continue;
        const runs = [];
        for (let turn = 0; turn < turns; ++turn) runs.push(await run(length, tokens));
        sample[column] = Math.max(...runs.map((each) => each[field]));
        if (field === "decode" && runs[0].share)
          sample[`of floor, ${length}`] = median(runs.map(({ share }) => share));
        if (column === "prefill 64") sample["first token ms"] = 64e3 / sample[column];
      }
      return { ...sample, "first token, cold ms": 64e3 / cold.prefill, ...loaded };
    };
    return inTab(folders, use, { jsFlags: flags["js-flags"] });
  },
});

/** This engine in Chromium; `options` are those of loadOurs in in-page.mjs. */
const ours = (flags, name, make, options = {}) => {
  const { variant } = { variant: "threads-relaxed", ...options };
  const runtimeBytes = () => downloadBytes(variant);
  return inChromium(flags, name, { load: "loadOurs", make, runtimeBytes, options: { variant, ...options } });
};

const gzipBytes = (/** @type {string[]} */ ...files) =>
  files
    .map((file) => gzipSync(readFileSync(join(peersFolder, "node_modules", file)), { level: 9 }).length)
    .reduce((sum, bytes) => sum + bytes, 0);

const wllama = (flags, type) =>
  inChromium(flags, `wllama ${type}`, {
    load: "loadWllama",
    make: () => makeGguf(type),
    runtimeBytes: () => gzipBytes("@wllama/wllama/esm/index.min.js", "@wllama/wllama/esm/wasm/wllama.wasm"),
  });

const transformers = (flags) =>
  inChromium(flags, "transformers.js q8", {
    load: "loadTransformers",
    make: () => made("gpt2-onnx", "generation_config.json", writeOnnxFolder),
    runtimeBytes: () =>
      gzipBytes(
        "@huggingface/transformers/dist/transformers.min.js",
        "onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.mjs",
        "onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.wasm",
      ),
  });

/** A visit: milliseconds, and the weights that were fetched. @returns {Contender} */
const visit = (flags, name, make, { isSecond = false, ...options }) => ({
  name,
  async take() {
    const profile = makeProfile();
    const load = { threads: flags.threads, ...options };
    const network = { rate: Number(flags.rate ?? 50e6), profile, jsFlags: flags["js-flags"] };
    const once = (early) =>
      inTab(
        { "/model/": make() },
        ({ ask, sentBytes }) => ask("visit", { early, options: load }).then((found) => [found, sentBytes()]),
        network,
      );
    try {
      const first = await once(true);
      const [found, sentBytes] = isSecond ? await once(false) : first;
      return {
        "ready, ms": found.readyMs,
        "first token, ms": found.ms,
        "first token once ready, ms": found.coldMs,
        "first token when warm, ms": found.warmMs,
        "weights fetched, MB": sentBytes / 1e6,
      };
    } finally {
      await removeProfile(profile);
    }
  },
});

const formats = Object.entries({ q8: "Q8_0", q4: "Q4_0" });

/** @type {Record<string, Benchmark>} */
export const benchmarks = {
  builds: {
    about:
      "GPT-2 124M's shapes in every build: prefill, decode, share of what memory allows, first token, load, memory",
    contenders(flags) {
      const { threads, model } = flags;
      const variants = [
        ...["threads-relaxed", "threads"].flatMap((variant) => [
          { variant, threads },
          { variant, threads: 1 },
        ]),
        ...["simd-relaxed", "simd"].map((variant) => ({ variant, threads: 1 })),
      ].slice(0, flags.quick ? 1 : 6);
      const names = model === undefined ? (flags.weights ?? ["q8", "q4", "f32"]) : [basename(resolve(model))];
      const all = names.flatMap((weights) =>
        variants.map((options) => {
          const name = `${weights}, ${options.variant}, ${options.threads}`;
          return ours(flags, name, () => model ?? makeModel(weights), options);
        }),
      );
      if (model !== undefined || flags.quick) return all;
      const echo = () => makeModel("q8", "gpt2-q8-echo", ["--echo"]);
      const q8 = () => makeModel("q8");
      return [
        ...all,
        ours(flags, "a text that repeats itself, with lookup", echo, { lookup: true }),
        ours(flags, "another text, with lookup", q8, { lookup: true }),
        ours(flags, "three continuations at once", q8, { n: 3 }),
        ours(flags, "eight continuations at once", q8, { n: 8 }),
      ];
    },
  },
  sizes: {
    about: "GPT-2 from 124M to 1.5B in Chromium: load, memory, first token, decode",
    contenders: (flags) =>
      (flags.size ?? Object.keys(gpt2Sizes)).flatMap((size) =>
        (flags.weights ?? ["q8", "q4"]).map((weights) => {
          const make = () => makeModel(weights, `gpt2-${size}-${weights}`, [], gpt2Sizes[size]);
          const { name, take } = ours(flags, `${size}, ${weights}`, make);
          const remove = () => rmSync(make(), { recursive: true }); // all together are large
          return { name, take: (round) => take(round).finally(remove) };
        }),
      ),
  },
  peers: {
    about: "124M's shapes compared with wllama and transformers.js, each in its own Chromium",
    rounds: 3,
    versions: peerVersions,
    pairs: [
      ["gpt2-wasm q8", "transformers.js q8"],
      ["gpt2-wasm q8", "wllama Q8_0"],
      ["gpt2-wasm q4", "wllama Q4_0"],
      ["gpt2-wasm q4", "gpt2-wasm q8"],
    ],
    contenders(flags) {
      installPeers();
      return [
        ...formats.map(([weights]) => ours(flags, `gpt2-wasm ${weights}`, () => makeModel(weights))),
        ...formats.map(([, type]) => wllama(flags, type)),
        transformers(flags),
      ];
    },
  },
  native: {
    about: "124M's shapes in Chromium, compared with native llama.cpp on the same processor",
    rounds: 3,
    versions: { "node-llama-cpp": llamaVersion },
    pairs: formats.map(([weights, type]) => [`gpt2-wasm ${weights}, Chromium`, `llama.cpp ${type}, native`]),
    contenders: (flags) =>
      formats.flatMap(([weights, type]) => [
        {
          name: `llama.cpp ${type}, native`,
          take: async (round) =>
            askLlama({
              file: await makeGguf(type),
              threads: flags.threads,
              measures,
              turns,
              salt: 100 * round,
            }),
        },
        ours(flags, `gpt2-wasm ${weights}, Chromium`, () => makeModel(weights)),
      ]),
  },
  visits: {
    about: "the first visit at --rate, the second visit, and a conversion: times, and bytes of weights",
    contenders(flags) {
      const make = () => flags.model ?? makeModel("q8");
      const hub = "conversion of the Hub's float32";
      return [
        visit(flags, "first visit, not stored", make, { cache: false }),
        visit(flags, "first visit, stored", make, {}),
        visit(flags, "second visit", make, { isSecond: true }),
        visit(flags, `${hub}, not stored`, makeHubModel, { weights: "q8", cache: false }),
        visit(flags, `${hub}, stored`, makeHubModel, { weights: "q8" }),
      ];
    },
  },
};
