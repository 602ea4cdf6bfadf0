// Converts models in the worker: wraps engine/api/convert.h in JavaScript types.
import type { StoredFormat } from "../../shared/formats.js";
import { Gpt2Error, LoadError } from "../../shared/errors.js";
import { failureOf } from "../../shared/failures.js";
import { joined } from "../../shared/joined.js";
import { headOf } from "./tensor-head.js";
import type { Allocator, ModuleFactory, WasmInstance } from "../wasm-instance.js";
import { startPart } from "../wasm-part.js";

/** The functions of engine/api/convert.h. A test compares them. */
interface ConverterModule extends Allocator {
  _gpt2_converter_create(): number;
  _gpt2_converter_destroy(converter: number): void; // the instance has its own memory, which is freed with it
  _gpt2_converter_torch_file(converter: number, name: number, nameSize: number, fileSize: number): number;
  _gpt2_converter_torch_part(converter: number, ...pointersAndSizes: number[]): number;
  _gpt2_converter_adapter(converter: number, ...pointersSizesAndWeight: number[]): number;
  _gpt2_converter_begin(converter: number, ...pointersAndSizes: number[]): number;
  _gpt2_converter_feed(converter: number, bytes: number, size: number): number;
  _gpt2_converter_step(converter: number): number;
  _gpt2_converter_output(converter: number): number;
  _gpt2_converter_folder(converter: number): number;
  _gpt2_converter_tokenizer(converter: number, ...pointersAndSizes: number[]): number;
  _gpt2_converter_end(converter: number): number;
}

/** A LoRA adapter, as its two files. */
export interface AdapterFiles {
  /** Precedes the colon in error messages. */
  name: string;
  /** The text of adapter_config.json. */
  config: string;
  /** adapter_model.safetensors. */
  tensors: Uint8Array<ArrayBuffer>;
  /** Factor for the adapter's contribution. */
  weight: number;
}

/** A conversion's inputs. */
export interface Conversion {
  weights: StoredFormat;
  /** The text of config.json; undefined if a GGUF file is fed. */
  config?: string | undefined;
  /**
   * If model.safetensors is in several files: the first bytes of each, in the order of feeding. They are at least 8 + the
   * length that these 8 bytes state. Empty for one file.
   */
  heads?: readonly Uint8Array[] | undefined;
  /** Adapters to merge into the model's floats, in this order. */
  adapters?: readonly AdapterFiles[] | undefined;
}

/** The files beside the converted weights. */
export interface ConvertedFolder {
  /** The text of config.json. */
  config: string;
  /** From a GGUF file, the texts of vocab.json, merges.txt and tokenizer_config.json; "" if missing. */
  vocab: string;
  merges: string;
  tokenizerConfig: string;
  /** Bytes of the converted model.safetensors. */
  weightBytes: number;
}

/** A tokenizer in the engine's form. */
export interface EngineTokenizer {
  /** The texts of vocab.json and merges.txt. */
  vocab: string;
  merges: string;
  /** Rules from other files. */
  rules: object;
}

/** Bytes that are copied into WebAssembly's memory at a time. */
const portion = 256 * 1024;

/**
 * Converts a published model to the form that `gpt2-weights convert` writes, while its bytes stream through. The model is
 * never held as a whole: the current tensor takes some MB for GPT-2 124M. The last reference to the converter frees them.
 *
 *     const converter = await Converter.create(code); // of the module that converts
 *     converter.begin({ weights: "q8", config });
 *     for await (const chunk of stream) for (const bytes of converter.feed(chunk)) keep(bytes);
 *     converter.end();
 *
 * `folder` is known as soon as a `feed` has given bytes, of several files after `begin`. Every call may throw a LoadError
 * that says what is wrong with the model ("corrupt", "unsupported", "not-found"). It may also throw a Gpt2Error
 * "out-of-memory", or a WorkerError. The conversion is over then.
 */
export class Converter {
  private readonly wasm: WasmInstance<ConverterModule>;
  private readonly converter: number;
  /** A buffer of `portion` bytes for the input. */
  private readonly input: number;
  private knownFolder: ConvertedFolder | undefined;

  private constructor(wasm: WasmInstance<ConverterModule>) {
    this.wasm = wasm;
    this.converter = wasm.pointer((module) => module._gpt2_converter_create());
    if (this.converter === 0) throw new Gpt2Error("out-of-memory", "no memory for a converter");
    this.input = wasm.allocate(portion);
  }

  /** `code` is the compiled module. Tests pass another `start`. */
  static async create(code: WebAssembly.Module, start?: ModuleFactory): Promise<Converter> {
    try {
      return new Converter(await startPart(code, start));
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Bytes of the instance's memory. */
  get memoryBytes(): number {
    return this.wasm.bytes;
  }

  /**
   * Adds a torch.save file for the next `begin`; `fileSize` is its size in bytes, if known. Calls `read` for the parts
   * that describe its contents.
   */
  async addTorchFile(
    name: string,
    fileSize: number | undefined,
    read: (part: { from: number; size: number }) => Promise<Uint8Array>,
  ): Promise<void> {
    let wanted = this.wasm.with([name], (pointer = 0, size = 0) =>
      this.wasm.ask((module) =>
        module._gpt2_converter_torch_file(this.converter, pointer, size, fileSize ?? -1),
      ),
    ) as { from: number; size: number } | null;
    while (wanted) {
      const bytes = await read(wanted);
      wanted = this.wasm.with([bytes], (...parts) =>
        this.wasm.ask((module) => module._gpt2_converter_torch_part(this.converter, ...parts)),
      ) as { from: number; size: number } | null;
    }
  }

  begin({ weights, config = "", heads = [], adapters = [] }: Conversion): void {
    this.knownFolder = undefined;
    for (const adapter of adapters) this.add(adapter);
    const head = joined(heads.map(headOf));
    this.wasm.with([config, head, weights], (...parts) =>
      this.wasm.ask((module) => module._gpt2_converter_begin(this.converter, ...parts)),
    );
  }

  /**
   * Takes the next bytes, and yields the parts of the converted model.safetensors that are ready. A part is valid until
   * the next.
   */
  *feed(chunk: Uint8Array): Generator<Uint8Array, void> {
    for (let at = 0; at < chunk.length; at += portion) {
      const bytes = chunk.subarray(at, at + portion);
      this.wasm.view(this.input, bytes.length).set(bytes);
      this.wasm.ask((module) => module._gpt2_converter_feed(this.converter, this.input, bytes.length));
      for (let output = this.step(); output.length > 0; output = this.step()) yield output;
    }
  }

  /** Call this after the last byte. Throws if bytes are missing. */
  end(): void {
    this.wasm.ask((module) => module._gpt2_converter_end(this.converter));
  }

  /** The files beside the weights, once they are known. */
  get folder(): ConvertedFolder | undefined {
    this.knownFolder ??= (this.wasm.ask((module) => module._gpt2_converter_folder(this.converter)) ??
      undefined) as ConvertedFolder | undefined;
    return this.knownFolder;
  }

  /** Reads the tokenizer of a model. `files` maps names to texts. */
  readTokenizer(files: Readonly<Record<string, string>>, vocabSize: number): EngineTokenizer {
    return this.wasm.with([JSON.stringify(files)], (...parts) =>
      this.wasm.ask((module) => module._gpt2_converter_tokenizer(this.converter, ...parts, vocabSize)),
    ) as EngineTokenizer;
  }

  private add({ name, config, tensors, weight }: AdapterFiles): void {
    try {
      this.wasm.with([config, tensors], (...parts) =>
        this.wasm.ask((module) => module._gpt2_converter_adapter(this.converter, ...parts, weight)),
      );
    } catch (error) {
      throw error instanceof LoadError ? new LoadError(error.code, `${name}: ${error.message}`) : error;
    }
  }

  private step(): Uint8Array {
    this.wasm.ask((module) => module._gpt2_converter_step(this.converter));
    const at = this.wasm.pointer((module) => module._gpt2_converter_output(this.converter));
    const [pointer = 0, size = 0] = this.wasm.words(at, 2);
    return this.wasm.view(pointer, size);
  }
}
