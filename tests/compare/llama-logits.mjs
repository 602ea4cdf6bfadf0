// llama.cpp's logits, from a separate process: `node llama-logits.mjs FOLDER IDS FILE...`, where FOLDER is node-llama-cpp's. Prints
// for each GGUF file the logits after each token of IDS, [files][ids][vocabulary], as JSON.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder = "", list = "", ...files] = process.argv.slice(2);
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(join(folder, "dist/index.js")).href);
const llama = await getLlama({
  gpu: false,
  build: "never", // its own prebuilt libraries
  skipDownload: true,
  logLevel: LlamaLogLevel.error,
});
const ids = list.split(",").map(Number);
const found = [];
for (const modelPath of files) {
  const model = await llama.loadModel({ modelPath, gpuLayers: 0 });
  const context = await model.createContext({ contextSize: 64, sequences: 1 });
  const sequence = context.getSequence();
  const outputs = await sequence.controlledEvaluate(
    ids.map((id) => [id, { generateNext: { logits: true } }]),
  );
  found.push(
    outputs.map((output) => {
      const logits = output?.next.logits ?? new Map();
      return Array.from({ length: logits.size }, (_, id) => logits.get(id));
    }),
  );
  await context.dispose();
  await model.dispose();
}
console.log(JSON.stringify(found));
await llama.dispose();
