// A running WebAssembly module: its memory, and the conventions that the headers of engine/api share.
import { errorFromWire, Gpt2Error } from "../shared/errors.js";
import { afterFailure, failureOf } from "../shared/failures.js";
import type { WireError } from "../shared/protocol.js";

/** The start values of a helper thread: engine/base/worker_threads.cc. */
export interface ThreadStart {
  code: WebAssembly.Module;
  memory: WebAssembly.Memory;
  /** Addresses in the memory. */
  stack: number;
  stackBytes: number;
  helper: number;
}

/**
 * Instantiates a module: createModule of wasm-module.ts, or another function in tests. `instantiateWasm` passes it the
 * imports.
 */
export type ModuleFactory = (options: {
  wasmMemory: WebAssembly.Memory;
  /** Present if the module has threads. */
  startThread?: (start: ThreadStart) => void;
  instantiateWasm: (
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, code: WebAssembly.Module) => WebAssembly.Exports,
  ) => WebAssembly.Exports;
}) => Promise<object>;

/** What every module exports (engine/api/memory.h). */
export interface Allocator {
  _gpt2_allocate(size: number): number;
  _gpt2_free(pointer: number): void;
}

const encoder = new TextEncoder();
/** A token may begin with U+FEFF, which is text here. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class WasmInstance<Exports extends Allocator> {
  /** Why no more calls are possible. */
  private failure: Gpt2Error | undefined;
  private readonly exports: Exports;
  private readonly memory: WebAssembly.Memory;

  private constructor(exports: Exports, memory: WebAssembly.Memory) {
    this.exports = exports;
    this.memory = memory;
  }

  /** `Exports` are those of `code`. A test compares them with the headers. */
  static async start<Exports extends Allocator>(
    createModule: ModuleFactory,
    code: WebAssembly.Module,
    memory: WebAssembly.Memory,
    startThread: (start: ThreadStart) => void = () => {},
  ): Promise<WasmInstance<Exports>> {
    try {
      const exports = await createModule({
        wasmMemory: memory,
        startThread,
        instantiateWasm: (imports, receive) => receive(new WebAssembly.Instance(code, imports), code),
      });
      return new WasmInstance(exports as Exports, memory);
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Size of the memory in bytes. */
  get bytes(): number {
    return this.memory.buffer.byteLength;
  }

  get hasEnded(): boolean {
    return this.failure !== undefined;
  }

  /** Ends the instance: every later call throws `failure`. */
  end(failure: Gpt2Error): void {
    this.failure = failure;
  }

  /** Calls an export. If it throws, no later call is possible, because its state is undefined. */
  call<T>(use: (exports: Exports) => T): T {
    if (this.failure) throw this.failure;
    try {
      return use(this.exports);
    } catch (error) {
      const failure = failureOf(error);
      this.failure = afterFailure(failure);
      throw failure;
    }
  }

  /** The same for exports that return an address. */
  pointer(use: (exports: Exports) => number): number {
    return this.call(use) >>> 0;
  }

  /** The reply of a call (convention 2 of api.h); undefined if there is none. Throws an error that it replies. */
  ask(use: (exports: Exports) => number): unknown {
    const start = this.pointer(use);
    if (start === 0) return undefined;
    const size = new Uint8Array(this.memory.buffer, start).indexOf(0);
    const { result, error } = JSON.parse(this.text(start, size)) as { result?: unknown; error?: WireError };
    if (error) throw errorFromWire(error);
    return result;
  }

  /** The next call may invalidate the view, because memory can grow. */
  view(pointer: number, size: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, pointer, size);
  }

  /** The same for 32-bit words. */
  words(pointer: number, count: number): Uint32Array {
    return new Uint32Array(this.memory.buffer, pointer, count);
  }

  /** `count` token ids at `ids`. With `places`, where each token begins and ends in its text follows the id. */
  tokens(ids: number, count: number, places?: number): number[] {
    const all = Array.from(this.words(ids, count));
    if (places === undefined) return all;
    const numbers = this.words(places, 2 * count);
    return all.flatMap((id, index) => [id, ...numbers.subarray(2 * index, 2 * index + 2)]);
  }

  text(pointer: number, size: number): string {
    return decoder.decode(this.view(pointer, size).slice()); // decode refuses shared memory
  }

  allocate(size: number): number {
    const pointer = this.pointer((exports) => exports._gpt2_allocate(Math.max(1, size)));
    if (pointer === 0) throw new Gpt2Error("out-of-memory", `no memory for ${size} bytes`);
    return pointer;
  }

  free(pointer: number): void {
    if (!this.failure) this.call((exports) => exports._gpt2_free(pointer));
  }

  /** Calls `use` with the addresses and sizes in bytes of `parts`; texts become UTF-8. */
  with<T>(parts: readonly (string | Uint8Array)[], use: (...pointersAndSizes: number[]) => T): T {
    const places: number[] = [];
    try {
      for (const part of parts) {
        const bytes = typeof part === "string" ? encoder.encode(part) : part;
        const pointer = this.allocate(bytes.length);
        places.push(pointer, bytes.length);
        this.view(pointer, bytes.length).set(bytes);
      }
      return use(...places);
    } finally {
      for (let at = 0; at < places.length; at += 2) this.free(places[at] ?? 0);
    }
  }
}
