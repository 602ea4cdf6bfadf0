// Converts models in the worker: engine/api/convert.h with JavaScript's types.
import { Gpt2Error, LoadError } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import { joined } from "../shared/joined.js";
import { headOf } from "./tensor-head.js";
import type { Allocator, ModuleFactory, WasmInstance } from "../shared/wasm-instance.js";
import { startPart } from "../loader/wasm-part.js";

/** What the matrices become: as `--weights` of `gpt2-weights convert`, "q4" without calibration. */
export type ConvertedWeights = "f32" | "f16" | "q8" | "q4";

/** The functions of engine/api/convert.h, which a test compares. */
interface ConverterModule extends Allocator {
  _gpt2_converter_create(): number;
  _gpt2_converter_destroy(converter: number): void; // its memory is its own, and goes with it
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
  /** Before the colon in the message of an error. */
  name: string;
  /** The text of adapter_config.json. */
  config: string;
  /** adapter_model.safetensors. */
  tensors: Uint8Array<ArrayBuffer>;
  /** Multiplies what it adds. */
  weight: number;
}

/** What is to be converted. */
export interface Conversion {
  weights: ConvertedWeights;
  /** The text of config.json; without it, a GGUF file is fed. */
  config?: string | undefined;
  /**
   * If model.safetensors is in several files: the first bytes of each, in the order of feeding. They are at least 8 + the
   * length that these 8 bytes state. Empty for one file.
   */
  heads?: readonly Uint8Array[] | undefined;
  /** Are merged into the model's floats, in this order. */
  adapters?: readonly AdapterFiles[] | undefined;
}

/** What belongs beside the converted weights. */
export interface ConvertedFolder {
  /** The text of config.json. */
  config: string;
  /** Of a GGUF file the texts of vocab.json, merges.txt and tokenizer_config.json; "" if there is none. */
  vocab: string;
  merges: string;
  tokenizerConfig: string;
  /** Bytes of the converted model.safetensors. */
  weightBytes: number;
}

/** A tokenizer as the engine reads it. */
export interface EngineTokenizer {
  /** The texts of vocab.json and merges.txt. */
  vocab: string;
  merges: string;
  /** What other files say of it. */
  rules: object;
}

/** What goes into WebAssembly's memory at once. */
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
  /** Of `portion` bytes, for what is fed. */
  private readonly input: number;
  private knownFolder: ConvertedFolder | undefined;

  private constructor(wasm: WasmInstance<ConverterModule>) {
    this.wasm = wasm;
    this.converter = wasm.pointer((module) => module._gpt2_converter_create());
    if (this.converter === 0) throw new Gpt2Error("out-of-memory", "no memory for a converter");
    this.input = wasm.allocate(portion);
  }

  /** `code` is that of the module. `start` is another in tests. */
  static async create(code: WebAssembly.Module, start?: ModuleFactory): Promise<Converter> {
    try {
      return new Converter(await startPart(code, start));
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Bytes of its memory. */
  get memoryBytes(): number {
    return this.wasm.bytes;
  }

  /**
   * Adds a file of torch.save, of `fileSize` bytes if that is known, to those that the next `begin` converts. Asks `read` for
   * the parts of it that say what it holds.
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

  /** Takes the next bytes, and yields the parts of the converted model.safetensors that are ready. A part is valid until the next. */
  *feed(chunk: Uint8Array): Generator<Uint8Array, void> {
    for (let at = 0; at < chunk.length; at += portion) {
      const bytes = chunk.subarray(at, at + portion);
      this.wasm.view(this.input, bytes.length).set(bytes);
      this.wasm.ask((module) => module._gpt2_converter_feed(this.converter, this.input, bytes.length));
      for (let output = this.step(); output.length > 0; output = this.step()) yield output;
    }
  }

  /** To be called after the last byte: throws where one is missing. */
  end(): void {
    this.wasm.ask((module) => module._gpt2_converter_end(this.converter));
  }

  /** What belongs beside the weights, once that is known. */
  get folder(): ConvertedFolder | undefined {
    this.knownFolder ??= (this.wasm.ask((module) => module._gpt2_converter_folder(this.converter)) ??
      undefined) as ConvertedFolder | undefined;
    return this.knownFolder;
  }

  /** Reads the tokenizer of a model's `files`, texts by their names. */
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
