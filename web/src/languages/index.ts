// gpt2-languages.js: tokenizers of other languages and other rules than the engine's own (engine/api/languages.h). The worker
// loads it for a model that has one. Its WebAssembly is in the script: it needs no other file.
import type { Packed } from "../shared/inflate.js";
import { compilePart } from "../loader/wasm-part.js";
import { LanguageTokenizer } from "./tokenizer.js";

declare const GPT2_LANGUAGES: Packed; // put in by web/scripts/package.mjs

export type { LanguageTokenizer };
export type { TextEnds } from "./tokenizer.js";

/**
 * Reads a tokenizer from the texts of its `files`, by their names. Throws a LoadError that names the file and the field
 * where it is one that is not computed.
 */
export const readLanguageTokenizer = async (
  files: Readonly<Record<string, string>>,
  vocabSize: number,
): Promise<LanguageTokenizer> =>
  LanguageTokenizer.read(await compilePart("gpt2-languages.js", GPT2_LANGUAGES), files, vocabSize);
