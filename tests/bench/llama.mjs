// llama.cpp, natively, for speed.mjs: `node llama.mjs JSON`. A separate process, so that none of its threads is left when others are
// measured. Prints tokens per second of each measure as JSON.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { llama: folder, file, threads, measures, turns, salt } = JSON.parse(process.argv[2] ?? "{}");
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(join(folder, "dist/index.js")).href);
const llama = await getLlama({
  gpu: false,
  build: "never", // uses its own prebuilt libraries, the best ones that this processor runs
  skipDownload: true,
  maxThreads: threads,
  logLevel: LlamaLogLevel.error,
});
const model = await llama.loadModel({ modelPath: file, gpuLayers: 0 });
const context = await model.createContext({
  contextSize: 1024,
  batchSize: 512,
  sequences: 1,
  threads: { ideal: threads, min: threads },
});
const sequence = context.getSequence();

let prompts = salt;

/** Tokens per second of the prompt, and of the text after it. */
async function run({ length, tokens }) {
  prompts += 1;
  const prompt = Array.from({ length }, (_, i) => (i * 7919 + prompts * 104729) % 50000);
  await sequence.clearHistory();
  const start = performance.now();
  const times = [];
  for await (const _ of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
    times.push(performance.now());
    if (times.length === tokens) break;
  }
  const [first = NaN] = times;
  const last = times.at(-1) ?? NaN;
  return { prefill: (1000 * length) / (first - start), decode: (1000 * (times.length - 1)) / (last - first) };
}

for (let round = 0; round < 2; ++round) await run({ length: 64, tokens: 16 }); // this loads its pages into memory
/** @type {Record<string, number | string>} */
const found = { system: llama.systemInfo };
for (const [name, measure] of Object.entries(measures)) {
  let best = 0;
  for (let turn = 0; turn < turns; ++turn) best = Math.max(best, (await run(measure))[measure.field]);
  found[name] = best;
}
console.log(JSON.stringify(found));
await llama.dispose();
