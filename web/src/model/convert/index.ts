// gpt2-convert.js: converts published models. The worker loads it when a model needs a conversion. Its WebAssembly is
// part of the script, so it needs no other file.
import type { ModelSource } from "../sources/model-source.js";
import { compilePart } from "../wasm-part.js";
import { ConvertedSource, type ConvertOptions as AllOptions } from "./converted-source.js";
import { Converter } from "./converter.js";

export type { EngineTokenizer } from "./converter.js";

declare const GPT2_CONVERT: string; // inserted by web/scripts/package.mjs

export type ConvertOptions = Omit<AllOptions, "createConverter">;

const createConverter = async () => Converter.create(await compilePart("gpt2-convert.js", GPT2_CONVERT));

/** `inner` as the folder that `gpt2-weights convert` would create from it. */
export const converted = (inner: ModelSource, options: ConvertOptions): ModelSource =>
  new ConvertedSource(inner, { ...options, createConverter });

/** Reads a tokenizer; `files` maps names to texts. Throws a LoadError that names the invalid file and field. */
export const readTokenizer = async (files: Readonly<Record<string, string>>, vocabSize: number) =>
  (await createConverter()).readTokenizer(files, vocabSize);
