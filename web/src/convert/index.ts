// gpt2-convert.js: models as others publish them. The worker loads it when one is to be converted. Its WebAssembly is in the
// script: it needs no other file.
import type { ModelSource } from "../loader/model-source.js";
import type { Packed } from "../shared/inflate.js";
import { compilePart } from "../loader/wasm-part.js";
import { ConvertedSource, type ConvertOptions as AllOptions } from "./converted-source.js";
import { Converter } from "./converter.js";

export type { EngineTokenizer } from "./converter.js";

declare const GPT2_CONVERT: Packed; // put in by web/scripts/package.mjs

export type ConvertOptions = Omit<AllOptions, "createConverter">;

const createConverter = async () => Converter.create(await compilePart("gpt2-convert.js", GPT2_CONVERT));

/** `inner` as the folder that `gpt2-weights convert` would make of it. */
export const converted = (inner: ModelSource, options: ConvertOptions): ModelSource =>
  new ConvertedSource(inner, { ...options, createConverter });

/** Reads the tokenizer of `files`, texts by their names. Throws a LoadError that names the file and the field that is wrong. */
export const readTokenizer = async (files: Readonly<Record<string, string>>, vocabSize: number) =>
  (await createConverter()).readTokenizer(files, vocabSize);
