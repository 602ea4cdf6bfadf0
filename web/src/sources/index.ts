// gpt2-sources.js: sources of models that few pages use. The worker loads it on demand.
export { openSource } from "./open-source.js";
