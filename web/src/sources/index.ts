// gpt2-sources.js: ways to a model that few pages take. The worker loads it when one of them is wanted.
export { openSource } from "./open-source.js";
