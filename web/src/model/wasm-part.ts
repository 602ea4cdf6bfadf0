// WebAssembly modules that only some pages need (gpt2_add_wasm_module in engine/api/wasm_variants.cmake). Each is packed
// into the script that uses it.
import { LoadError, reasonOf } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import { inflate } from "../shared/inflate.js";
import { WasmInstance, type Allocator } from "./wasm-instance.js";
import { createModule } from "./wasm-module.js";
import { checkFile } from "./check-file.js";

/** Pages of 64 KiB: the module's initial memory, and its maximum. */
const memoryPages = { initial: 64, maximum: 16384 };

/** Unpacks the module in the script `file`. Throws a LoadError "corrupt" that names the script if it is damaged. */
export async function compilePart(file: string, packed: string): Promise<WebAssembly.Module> {
  const bytes = await inflate(packed).catch((error: unknown) => {
    if (error instanceof LoadError) throw error;
    throw new LoadError("corrupt", `${file} cannot be unpacked: ${reasonOf(error)}`);
  });
  await checkFile(`the module in ${file}`, bytes);
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    throw failureOf(error);
  }
}

/** Tests pass another `create`. */
export const startPart = <Exports extends Allocator>(
  code: WebAssembly.Module,
  create = createModule,
): Promise<WasmInstance<Exports>> => WasmInstance.start(create, code, new WebAssembly.Memory(memoryPages));
