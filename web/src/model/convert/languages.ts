// gpt2-languages.js: tokenizers with rules that the engine itself does not support (engine/api/languages.h). The worker
// loads it for a model that needs it. Its WebAssembly is part of the script, so it needs no other file.
import { Gpt2Error } from "../../shared/errors.js";
import type { Allocator, WasmInstance } from "../wasm-instance.js";
import { compilePart, startPart } from "../wasm-part.js";

declare const GPT2_LANGUAGES: string; // inserted by web/scripts/package.mjs

/** The functions of engine/api/languages.h. A test compares them. */
interface LanguagesModule extends Allocator {
  _gpt2_languages_create(): number;
  _gpt2_languages_destroy(languages: number): void; // the instance has its own memory, which is freed with it
  _gpt2_languages_read(languages: number, ...pointersAndSizes: number[]): number;
  _gpt2_languages_encode(
    languages: number,
    text: number,
    size: number,
    special: number,
    ends: number,
    places: number,
  ): number;
  _gpt2_languages_ids(languages: number): number;
  _gpt2_languages_places(languages: number): number;
  _gpt2_languages_decode(languages: number, ids: number, count: number): number;
}

/** Special tokens to add: those at the start of a text that continues, or those at both ends. */
export type TextEnds = "beginning" | "both";

const endsNumber: Readonly<Record<TextEnds, number>> = { beginning: 1, both: 2 };

/** A tokenizer that the engine does not support itself. */
export class LanguageTokenizer {
  /** The text of each token, in the engine's form. */
  readonly tokens: string;
  private readonly wasm: WasmInstance<LanguagesModule>;
  private readonly languages: number;

  private constructor(wasm: WasmInstance<LanguagesModule>, languages: number, tokens: string) {
    this.wasm = wasm;
    this.languages = languages;
    this.tokens = tokens;
  }

  /** `code` is the compiled module. */
  static async read(
    code: WebAssembly.Module,
    files: Readonly<Record<string, string>>,
    vocabSize: number,
  ): Promise<LanguageTokenizer> {
    const wasm = await startPart<LanguagesModule>(code);
    const languages = wasm.pointer((module) => module._gpt2_languages_create());
    if (languages === 0) throw new Gpt2Error("out-of-memory", "no memory for a tokenizer");
    const tokens = wasm.with([JSON.stringify(files)], (...parts) =>
      wasm.ask((module) => module._gpt2_languages_read(languages, ...parts, vocabSize)),
    ) as string;
    return new LanguageTokenizer(wasm, languages, tokens);
  }

  /** Bytes of the instance's memory. */
  get memoryBytes(): number {
    return this.wasm.bytes;
  }

  /** The ids of a text; with `hasPlaces`, where each token begins and ends in the text follows its id. */
  encode(text: string, allowSpecial: boolean, ends: TextEnds, hasPlaces = false): number[] {
    return this.wasm.with([text], (at = 0, size = 0) => {
      const special = allowSpecial ? 1 : 0;
      const { count } = this.wasm.ask((module) =>
        module._gpt2_languages_encode(this.languages, at, size, special, endsNumber[ends], Number(hasPlaces)),
      ) as { count: number };
      const ids = this.wasm.pointer((module) => module._gpt2_languages_ids(this.languages));
      const places = this.wasm.pointer((module) => module._gpt2_languages_places(this.languages));
      return this.wasm.tokens(ids, count, hasPlaces ? places : undefined);
    });
  }

  decode(ids: readonly number[]): string {
    const bytes = new Uint8Array(Int32Array.from(ids).buffer);
    return this.wasm.with([bytes], (at = 0) =>
      this.wasm.ask((module) => module._gpt2_languages_decode(this.languages, at, ids.length)),
    ) as string;
  }
}

/**
 * Reads a tokenizer; `files` maps names to texts. Throws a LoadError that names the file and field if it is not
 * supported.
 */
export const readLanguageTokenizer = async (
  files: Readonly<Record<string, string>>,
  vocabSize: number,
): Promise<LanguageTokenizer> =>
  LanguageTokenizer.read(await compilePart("gpt2-languages.js", GPT2_LANGUAGES), files, vocabSize);
