export default (config) => {
  config.addPassthroughCopy({ "node_modules/gpt2-wasm/build/package": "gpt2" });
  config.addPassthroughCopy("models");
};
