// `npm run example`: writes the text that first visitors read while the demo model downloads. The demo model writes it with
// the options below; tests/e2e/first-visit.spec.ts compares the two. Needs `npm run build`.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "prettier";

const web = resolve(import.meta.dirname, "..");
const file = resolve(web, "page/parts/first-visit/example.json");

const prompt = "Once upon a time";
/** The page's own options for this model, a seed that gives a whole paragraph, and the end of that paragraph. */
const options = {
  temperature: 0.7,
  topK: 40,
  topP: 0.9,
  repetitionPenalty: 1.05,
  maxNewTokens: 64,
  seed: 9,
  stop: ["\n"],
};

const { loadModel } = await import(pathToFileURL(resolve(web, "../build/package/gpt2-node.js")).href);
const model = await loadModel(resolve(web, "models/demo/"), { threads: 1 });
const { text } = await model.complete(prompt, options);
await model.dispose();
writeFileSync(file, await format(JSON.stringify({ prompt, options, text }), { parser: "json" }));
console.log(prompt + text);
