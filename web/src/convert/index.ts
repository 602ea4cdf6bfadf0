// gpt2-convert.js: models as others publish them. The worker loads it when one is to be converted.
export { ConvertedSource, type ConvertOptions } from "./converted-source.js";
export { Converter } from "./converter.js";
