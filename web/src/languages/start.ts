// Starts the module, which has no script of Emscripten's.
import { WasmInstance, type Allocator, type ModuleFactory } from "../shared/wasm-instance.js";

/** The functions of engine/api/languages.h, which a test compares. */
export interface LanguagesModule extends Allocator {
  _gpt2_languages_create(): number;
  _gpt2_languages_destroy(languages: number): void; // its memory is its own, and goes with it
  _gpt2_languages_read(languages: number, ...pointersAndSizes: number[]): number;
  _gpt2_languages_encode(
    languages: number,
    text: number,
    size: number,
    special: number,
    ends: number,
  ): number;
  _gpt2_languages_ids(languages: number): number;
  _gpt2_languages_decode(languages: number, ids: number, count: number): number;
}

/** Pages of 64 KiB: what the build begins with, and what a vocabulary and a text may take. */
const memoryPages = { initial: 64, maximum: 16384 };

/** What engine/format/wasm_libc.cc asks of JavaScript. */
function numbers() {
  let text = "";
  return {
    gpt2_number(character: number): number {
      text += character === 0 ? "" : String.fromCharCode(character);
      if (character !== 0) return 0;
      const number = Number(text);
      text = "";
      return number;
    },
    gpt2_number_text: (value: number, place: number): number => String(value).charCodeAt(place) | 0,
  };
}

const createModule: ModuleFactory = ({ wasmMemory, instantiateWasm }) => {
  let functions: Record<string, (...values: number[]) => number> = {};
  const environment = { memory: wasmMemory, emscripten_notify_memory_growth: () => {}, ...numbers() };
  instantiateWasm({ env: environment }, ({ exports }) => {
    functions = exports as typeof functions;
    return exports;
  });
  functions._initialize?.();
  const names = Object.entries(functions).map(([name, run]) => [`_${name}`, run]);
  const { gpt2_languages_allocate: allocate, gpt2_languages_free: free } = functions;
  return Promise.resolve({ ...Object.fromEntries(names), _gpt2_allocate: allocate, _gpt2_free: free });
};

export const startLanguages = (code: WebAssembly.Module): Promise<WasmInstance<LanguagesModule>> =>
  WasmInstance.start(createModule, code, new WebAssembly.Memory(memoryPages));
