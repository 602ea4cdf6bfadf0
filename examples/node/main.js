// node main.js FOLDER-OR-URL: a story, as a page would write it.
import { loadModel } from "gpt2-wasm";

const model = await loadModel(process.argv[2]);
console.error(`${model.info.variant}, ${model.info.threads} threads`);
for await (const { text } of model.generate("Once upon a time", { maxNewTokens: 24, seed: 1 })) {
  process.stdout.write(text);
}
