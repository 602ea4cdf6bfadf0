import { loadModel } from "gpt2-wasm";

const model = await loadModel("models/demo/");
document.querySelector("small").textContent = `${model.info.variant}, ${model.info.threads} threads`;
for await (const { text } of model.generate("Once upon a time", { maxNewTokens: 24, seed: 1 })) {
  document.querySelector("output").append(text);
}
await model.dispose();
