// The modules of WebAssembly that only some pages need (gpt2_add_wasm_part in engine/api/wasm_variants.cmake). Each is packed into
// the script that uses it, and has no script of Emscripten's.
import { LoadError, reasonOf } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import { inflate, type Packed } from "../shared/inflate.js";
import { WasmInstance, type Allocator, type ModuleFactory } from "../shared/wasm-instance.js";
import { checkFile } from "./check-file.js";

/** Pages of 64 KiB: what the build begins with, and the most that it may take. */
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

/** Does for a part what Emscripten's script does for a build of the engine. */
export const createPart: ModuleFactory = ({ wasmMemory, instantiateWasm }) => {
  let functions: Record<string, (...values: number[]) => number> = {};
  const environment = { memory: wasmMemory, emscripten_notify_memory_growth: () => {}, ...numbers() };
  instantiateWasm({ env: environment }, ({ exports }) => {
    functions = exports as typeof functions;
    return exports;
  });
  functions._initialize?.();
  const names = Object.entries(functions).map(([name, run]) => [`_${name}`, run]);
  return Promise.resolve(Object.fromEntries(names) as object);
};

/** Unpacks the module in the script `file`. Throws a LoadError "corrupt" that names the script where it is damaged. */
export async function compilePart(file: string, packed: Packed): Promise<WebAssembly.Module> {
  const bytes = await inflate(packed).catch((error: unknown) => {
    if (error instanceof LoadError) throw error;
    throw new LoadError("corrupt", `${file} cannot be unpacked: ${reasonOf(error)}`);
  });
  await checkFile(`the module in ${file}`, bytes, true);
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    throw failureOf(error);
  }
}

/** `create` is another than createPart in tests. */
export const startPart = <Exports extends Allocator>(
  code: WebAssembly.Module,
  create = createPart,
): Promise<WasmInstance<Exports>> => WasmInstance.start(create, code, new WebAssembly.Memory(memoryPages));
