// gpt2-languages.js: tokenizers with rules that the engine itself does not support (engine/api/languages.h). The worker
// loads it for a model that needs it. Its WebAssembly is part of the script, so it needs no other file.
import { compilePart } from "../loader/wasm-part.js";
import { LanguageTokenizer } from "./tokenizer.js";

declare const GPT2_LANGUAGES: string; // inserted by web/scripts/package.mjs

export type { LanguageTokenizer };
export type { TextEnds } from "./tokenizer.js";

/**
 * Reads a tokenizer; `files` maps names to texts. Throws a LoadError that names the file and field if it is not
 * supported.
 */
export const readLanguageTokenizer = async (
  files: Readonly<Record<string, string>>,
  vocabSize: number,
): Promise<LanguageTokenizer> =>
  LanguageTokenizer.read(await compilePart("gpt2-languages.js", GPT2_LANGUAGES), files, vocabSize);
