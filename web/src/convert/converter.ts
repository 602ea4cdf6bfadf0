// Converts models in the worker: engine/api/convert.h with JavaScript's types.
import { errorFromWire, Gpt2Error } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import { joined } from "../shared/joined.js";

/** What the matrices become: as `--weights` of `gpt2-weights convert`, "q4" without calibration. */
export type ConvertedWeights = "f32" | "f16" | "q8" | "q4";

/** What Emscripten's module of the build `simd` gives beside EngineModule: the functions of engine/api/convert.h. */
interface ConverterModule {
  _gpt2_allocate(size: number): number;
  _gpt2_free(pointer: number): void;
  _gpt2_converter_create(): number;
  _gpt2_converter_destroy(converter: number): void; // its memory is its own, and goes with it
  _gpt2_converter_begin(converter: number, ...pointersAndSizes: number[]): number;
  _gpt2_converter_feed(converter: number, bytes: number, size: number): number;
  _gpt2_converter_step(converter: number): number;
  _gpt2_converter_output(converter: number): number;
  _gpt2_converter_folder(converter: number): number;
  _gpt2_converter_end(converter: number): number;
}

/** The script of the build `simd`, as start-engine.ts has it. */
export type CreateModule = (options: {
  wasmMemory: WebAssembly.Memory;
  instantiateWasm: (
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, code: WebAssembly.Module) => WebAssembly.Exports,
  ) => WebAssembly.Exports;
}) => Promise<object>;

/** What is to be converted. */
export interface Conversion {
  weights: ConvertedWeights;
  /** The text of config.json, of safetensors files; without it, a GGUF file is fed. */
  config?: string | undefined;
  /**
   * Where model.safetensors is in several files: the first bytes of each, at least 8 + the length that these 8 bytes say,
   * in the order in which the files will be fed. Nothing for one file.
   */
  heads?: readonly Uint8Array[] | undefined;
}

/** What belongs beside the converted weights. */
export interface ConvertedFolder {
  /** Texts of config.json and, of a GGUF file, vocab.json and merges.txt; else "". */
  config: string;
  vocab: string;
  merges: string;
  /** Bytes of the converted model.safetensors. */
  weightBytes: number;
}

/** What goes into WebAssembly's memory at once. */
const portion = 256 * 1024;
/** Pages of 64 KiB: what the build begins with, and far more than a tensor of GPT-2 1.5B and a vocabulary take. */
const memoryPages = { initial: 64, maximum: 16384 };

const encoder = new TextEncoder();

/** Bytes before the tensors of a safetensors file, which its first eight bytes say. */
const headSize = (bytes: Uint8Array) =>
  bytes.length < 8 ? 8 : 8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));

/** Whether a safetensors file's first bytes are all of those before its tensors, at least. */
export const isWholeHead = (bytes: Uint8Array) => bytes.length >= headSize(bytes);

/**
 * Turns a model as others publish it into one as `gpt2-weights convert` makes it, while its bytes stream through. It is
 * held nowhere: what is under way of one tensor takes memory, some MB for GPT-2 124M, which goes with the last reference to
 * the converter.
 *
 *     const converter = await Converter.create(createModule, code); // the script and the code of the build "simd"
 *     converter.begin({ weights: "q8", config });
 *     for await (const chunk of stream) for (const bytes of converter.feed(chunk)) keep(bytes);
 *     converter.end();
 *
 * `folder` is known as soon as a `feed` has given bytes, of several files after `begin`. Every call may throw a LoadError
 * that says what is wrong with the model ("corrupt", "unsupported", "not-found"), a Gpt2Error "out-of-memory", or a
 * WorkerError; the conversion is over then.
 */
export class Converter {
  private readonly module: ConverterModule;
  private readonly memory: WebAssembly.Memory;
  private readonly converter: number;
  /** Of `portion` bytes, for what is fed. */
  private readonly input: number;
  private knownFolder: ConvertedFolder | undefined;

  private constructor(module: ConverterModule, memory: WebAssembly.Memory) {
    this.module = module;
    this.memory = memory;
    this.converter = module._gpt2_converter_create() >>> 0;
    this.input = this.allocate(portion);
    if (this.converter === 0) throw new Gpt2Error("out-of-memory", "no memory for a converter");
  }

  static async create(createModule: CreateModule, code: WebAssembly.Module): Promise<Converter> {
    try {
      const memory = new WebAssembly.Memory(memoryPages);
      const module = await createModule({
        wasmMemory: memory,
        instantiateWasm: (imports, receive) => receive(new WebAssembly.Instance(code, imports), code),
      });
      return new Converter(module as ConverterModule, memory);
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Bytes of its memory. */
  get memoryBytes(): number {
    return this.memory.buffer.byteLength;
  }

  begin({ weights, config = "", heads = [] }: Conversion): void {
    this.knownFolder = undefined;
    const texts = [
      encoder.encode(config),
      joined(heads.map((head) => head.subarray(0, headSize(head)))),
      encoder.encode(weights),
    ];
    const pointers = texts.map((bytes) => this.copyIn(bytes));
    try {
      const pairs = texts.flatMap((bytes, i) => [pointers[i] ?? 0, bytes.length]);
      this.ask(() => this.module._gpt2_converter_begin(this.converter, ...pairs));
    } finally {
      for (const pointer of pointers) this.module._gpt2_free(pointer);
    }
  }

  /** Takes the next bytes, and gives what of the converted model.safetensors is ready by now. */
  feed(chunk: Uint8Array): Uint8Array[] {
    const ready: Uint8Array[] = [];
    for (let at = 0; at < chunk.length; at += portion) {
      const bytes = chunk.subarray(at, at + portion);
      this.view(this.input, bytes.length).set(bytes);
      this.ask(() => this.module._gpt2_converter_feed(this.converter, this.input, bytes.length));
      for (let output = this.step(); output.length > 0; output = this.step()) ready.push(output);
    }
    return ready;
  }

  /** To be called after the last byte: throws where one is missing. */
  end(): void {
    this.ask(() => this.module._gpt2_converter_end(this.converter));
  }

  /** What belongs beside the weights, once that is known. */
  get folder(): ConvertedFolder | undefined {
    this.knownFolder ??= (this.ask(() => this.module._gpt2_converter_folder(this.converter)) ?? undefined) as
      ConvertedFolder | undefined;
    return this.knownFolder;
  }

  private step(): Uint8Array {
    this.ask(() => this.module._gpt2_converter_step(this.converter));
    const at = this.module._gpt2_converter_output(this.converter) >>> 0;
    const [pointer = 0, size = 0] = new Uint32Array(this.memory.buffer, at, 2);
    return this.view(pointer, size).slice();
  }

  /** The result of a call that replies; undefined where it has none. */
  private ask(call: () => number): unknown {
    let pointer: number;
    try {
      pointer = call() >>> 0;
    } catch (error) {
      throw failureOf(error);
    }
    if (pointer === 0) return undefined;
    const end = new Uint8Array(this.memory.buffer, pointer).indexOf(0);
    const text = new TextDecoder().decode(this.view(pointer, end));
    const { result, error } = JSON.parse(text) as {
      result?: unknown;
      error?: { code: string; message: string };
    };
    if (error) throw errorFromWire(error);
    return result;
  }

  /** A view that the next call may invalidate, as memory can grow. */
  private view(pointer: number, size: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, pointer, size);
  }

  private copyIn(bytes: Uint8Array): number {
    const pointer = this.allocate(bytes.length);
    this.view(pointer, bytes.length).set(bytes);
    return pointer;
  }

  private allocate(size: number): number {
    const pointer = this.module._gpt2_allocate(Math.max(1, size)) >>> 0;
    if (pointer === 0) throw new Gpt2Error("out-of-memory", `no memory for ${size} bytes`);
    return pointer;
  }
}
