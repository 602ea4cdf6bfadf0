// llama.cpp in a separate process, so that none of its threads is left when others are measured: `node llama.mjs JSON`. Prints a
// JSON. The task has `logits`, a list of GGUF files and `ids`, or a file and the `measures` of a benchmark.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { installLlama } from "./install.mjs";

/** Performs `task` in a new process, with the prebuilt library for this processor. */
export function askLlama(task) {
  const args = [fileURLToPath(import.meta.url), JSON.stringify({ folder: installLlama(), ...task })];
  const output = execFileSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  return JSON.parse(output.trim().split("\n").at(-1) ?? "");
}

/** The logits after each of the ids, [files][ids][vocabulary]. */
async function logitsOf(open, { logits, ids }) {
  const found = [];
  for (const file of logits) {
    const { sequence, close } = await open(file, { contextSize: 64 });
    const outputs = await sequence.controlledEvaluate(
      ids.map((id) => [id, { generateNext: { logits: true } }]),
    );
    const maps = outputs.map((output) => output?.next.logits ?? new Map());
    found.push(maps.map((map) => Array.from({ length: map.size }, (_, id) => map.get(id))));
    await close();
  }
  return found;
}

/** Tokens per second of each measure. The fastest of `turns` counts. */
async function speedsOf(open, { file, threads, measures, turns, salt }) {
  const many = { ideal: threads, min: threads };
  const { sequence } = await open(file, { contextSize: 1024, batchSize: 512, threads: many });
  const run = async ({ length, tokens }) => {
    salt += 1;
    const prompt = Array.from({ length }, (_, i) => (i * 7919 + salt * 104729) % 50000);
    await sequence.clearHistory();
    const times = [performance.now()];
    for await (const _ of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
      times.push(performance.now());
      if (times.length > tokens) break;
    }
    const [start = NaN, first = NaN] = times;
    const rest = (times.at(-1) ?? NaN) - first;
    return { prefill: (1000 * length) / (first - start), decode: (1000 * (times.length - 2)) / rest };
  };
  for (let round = 0; round < 2; ++round) await run({ length: 64, tokens: 16 }); // this loads its pages into memory
  const found = {};
  for (const [name, measure] of Object.entries(measures)) {
    found[name] = 0;
    for (let turn = 0; turn < turns; ++turn)
      found[name] = Math.max(found[name], (await run(measure))[measure.field]);
  }
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { folder, ...task } = JSON.parse(process.argv[2] ?? "{}");
  const { getLlama, LlamaLogLevel } = await import(pathToFileURL(join(folder, "dist/index.js")).href);
  const llama = await getLlama({
    gpu: false,
    build: "never", // uses its own prebuilt libraries, the best ones that this processor runs
    skipDownload: true,
    ...(task.threads && { maxThreads: task.threads }),
    logLevel: LlamaLogLevel.error,
  });
  const open = async (modelPath, options) => {
    const model = await llama.loadModel({ modelPath, gpuLayers: 0 });
    const context = await model.createContext({ sequences: 1, ...options });
    const close = () => context.dispose().then(() => model.dispose());
    return { sequence: context.getSequence(), close };
  };
  console.log(JSON.stringify(await (task.logits ? logitsOf : speedsOf)(open, task)));
  await llama.dispose();
}
