// Measures tokens per second of GPT-2's shapes with random weights, in this engine's builds, every size, and other engines.
import { existsSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { compare, inChromium, inLlama, natively, ours } from "./contenders.mjs";
import { loadTransformers, loadWllama } from "./in-page.mjs";
import { gpt2Config, gpt2Sizes, makeModel, modelsFolder } from "./models.mjs";
import { writeRandomGguf } from "./peers/gguf.mjs";
import { installPeers, llamaVersion, peersFolder, peerVersions } from "./peers/install.mjs";
import { writeOnnxFolder } from "./peers/onnx.mjs";

/** @import { Contender } from "./contenders.mjs" */
/** @import { Flags } from "./run.mjs" */

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
  about: "124M's shapes compared with wllama and transformers.js, each in its own Chromium",
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
  about: "124M's shapes in Chromium and natively, compared with llama.cpp on the same processor",
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
