// A model of others, seen as the folder that `gpt2-weights convert` would make of it.
import {
  chunksOf,
  fileOf,
  type MadeOf,
  type ModelSource,
  type OpenFile,
  type OpenOptions,
} from "../loader/model-source.js";
import { readOptionalText, readText } from "../loader/read-text.js";
import { isLoadError, LoadError } from "../shared/errors.js";
import { joined } from "../shared/joined.js";
import type { ModuleFactory } from "../shared/wasm-instance.js";
import { Converter, isWholeHead, type ConvertedFolder, type ConvertedWeights } from "./converter.js";

/** What is handed on at once, in bytes: the converter gives some kilobytes at a time, and each handing on leaves garbage. */
const portion = 256 * 1024;
/** After so long less is handed on, in milliseconds: progress is told by what was. */
const patienceMs = 100;

const weightsFile = "model.safetensors";
const shardIndexFile = "model.safetensors.index.json";

export interface ConvertOptions {
  weights: ConvertedWeights;
  /** The name of a GGUF file, which is all of the model; without it, it is a hub's folder. */
  gguf?: string;
  /** The script and the code of the engine's build "simd". */
  fetchBuild: (signal: AbortSignal) => Promise<{ createModule: ModuleFactory; code: WebAssembly.Module }>;
}

/** A conversion, and what it has made so far. */
interface Running {
  folder: ConvertedFolder;
  /** The next bytes of the converted model.safetensors. */
  output: AsyncGenerator<Uint8Array, void>;
  made: MadeOf;
}

interface WeightFile {
  name: string;
  /** Opened already. */
  file?: OpenFile;
}

const textFile = (text: string) => fileOf(new TextEncoder().encode(text));

/** undefined where one of them is not known. */
const sum = (sizes: readonly (number | undefined)[]) =>
  sizes.reduce((all, size) => (all === undefined || size === undefined ? undefined : all + size), 0);

/** What model.safetensors.index.json says: a list of the files that the tensors are in. */
function shardNames(text: string): string[] {
  let index: unknown;
  try {
    index = JSON.parse(text);
  } catch (error) {
    throw new LoadError("corrupt", `${shardIndexFile} is not valid JSON: ${String(error)}`);
  }
  const map = (index as { weight_map?: unknown } | null)?.weight_map;
  const names: unknown[] = typeof map === "object" && map !== null ? Object.values(map) : [];
  const isName = (name: unknown) => typeof name === "string" && /^[\w-][\w.-]*$/.test(name);
  if (names.length === 0 || !names.every(isName)) {
    throw new LoadError(
      "corrupt",
      `${shardIndexFile}: expected "weight_map" with the name of a file for each tensor`,
    );
  }
  return [...new Set(names as string[])].sort();
}

/** The first bytes of a safetensors file, up to its tensors. */
async function readHead(
  source: ModelSource,
  name: string,
  signal: AbortSignal,
): Promise<{ head: Uint8Array; size: number | undefined }> {
  let head = new Uint8Array();
  const file = await source.open(name, { signal });
  for await (const chunk of chunksOf(file, name, signal)) {
    head = joined([head, chunk]);
    if (isWholeHead(head)) break;
  }
  return { head, size: file.size };
}

async function* followedBy<T>(first: T[], rest: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  try {
    yield* first.splice(0);
    yield* rest;
  } finally {
    await rest.return();
  }
}

/**
 * What `inner` holds, converted while it streams: config.json, model.safetensors and, as `inner` has them or out of the GGUF
 * file, vocab.json and merges.txt. The first file that is asked for starts the conversion; model.safetensors goes on with
 * it. Asked for model.safetensors once more, all begins anew.
 */
export class ConvertedSource implements ModelSource {
  private readonly inner: ModelSource;
  private readonly options: ConvertOptions;
  /** Begun for the sake of the texts, and not yet taken for the weights. */
  private begun: Promise<Running> | undefined;
  private folder: ConvertedFolder | undefined;

  constructor(inner: ModelSource, options: ConvertOptions) {
    this.inner = inner;
    this.options = options;
  }

  async open(name: string, options: OpenOptions): Promise<OpenFile> {
    switch (name) {
      case weightsFile:
        return this.openWeights(options);
      case "config.json":
        return textFile((await this.readFolder(options)).config);
      case "vocab.json":
      case "merges.txt": {
        if (this.options.gguf === undefined) return this.inner.open(name, options);
        const { vocab, merges } = await this.readFolder(options);
        if (vocab === "") throw new LoadError("not-found", `${this.options.gguf} has no tokenizer`);
        return textFile(name === "vocab.json" ? vocab : merges);
      }
      case "weights.json":
        throw new LoadError("not-found", `there is no ${name}: the model is converted while it is read`);
      default:
        return this.inner.open(name, options);
    }
  }

  private async readFolder(options: OpenOptions): Promise<ConvertedFolder> {
    const begun = (this.begun ??= this.begin(options));
    begun.catch(() => (this.begun = undefined)); // the next one begins again
    this.folder ??= (await begun).folder;
    return this.folder;
  }

  private async openWeights(options: OpenOptions): Promise<OpenFile> {
    const begun = this.begun ?? this.begin(options);
    this.begun = undefined;
    const { folder, output, made } = await begun;
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await output.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel() {
          await output.return();
        },
      },
      { highWaterMark: 0 },
    );
    return { size: folder.weightBytes, stream, made };
  }

  private async begin(options: OpenOptions): Promise<Running> {
    const { weights, gguf, fetchBuild } = this.options;
    const { signal } = options;
    const [config, files, { createModule, code }] = await Promise.all([
      gguf === undefined ? readText(this.inner, "config.json", signal) : undefined,
      this.openWeightFiles(options),
      fetchBuild(signal),
    ]);
    const converter = await Converter.create(createModule, code);
    const heads =
      files.length > 1
        ? await Promise.all(files.map(({ name }) => readHead(this.inner, name, signal)))
        : undefined;
    converter.begin({ weights, config, heads: heads?.map(({ head }) => head) });
    const sizes = heads ? heads.map(({ size }) => size) : [files[0]?.file?.size];
    const made: MadeOf = { readBytes: 0, totalBytes: sum(sizes) };
    const rest = this.convert(converter, files, made, options);
    const ready: Uint8Array[] = [];
    while (!converter.folder) {
      const { done, value } = await rest.next();
      if (!done) ready.push(value.slice());
    }
    return { folder: converter.folder, output: followedBy(ready, rest), made };
  }

  /** The GGUF file, or the hub's one model.safetensors, or the files that it is cut into. */
  private async openWeightFiles(options: OpenOptions): Promise<WeightFile[]> {
    if (this.options.gguf !== undefined) return [{ name: this.options.gguf }];
    try {
      return [{ name: weightsFile, file: await this.inner.open(weightsFile, options) }];
    } catch (error) {
      if (!(isLoadError(error) && error.code === "not-found")) throw error;
      const index = await readOptionalText(this.inner, shardIndexFile, options.signal);
      if (index === undefined) throw error;
      return shardNames(index).map((name) => ({ name }));
    }
  }

  private async *convert(
    converter: Converter,
    files: readonly WeightFile[],
    made: MadeOf,
    options: OpenOptions,
  ): AsyncGenerator<Uint8Array, void> {
    const buffer = new Uint8Array(portion);
    let filled = 0;
    let handedOn = performance.now();
    const takeFilled = () => {
      const bytes = buffer.subarray(0, filled);
      filled = 0;
      handedOn = performance.now();
      return bytes;
    };
    for (const { name, file } of files) {
      const opened = file ?? (await this.inner.open(name, options));
      if (files.length === 1) made.totalBytes = opened.size;
      for await (const chunk of chunksOf(opened, name, options.signal)) {
        made.readBytes += chunk.length;
        for (let bytes of converter.feed(chunk)) {
          while (bytes.length > 0) {
            const part = bytes.subarray(0, portion - filled);
            buffer.set(part, filled);
            filled += part.length;
            bytes = bytes.subarray(part.length);
            if (filled === portion) yield takeFilled();
          }
        }
        if (filled > 0 && performance.now() - handedOn > patienceMs) yield takeFilled();
      }
    }
    converter.end();
    if (filled > 0) yield takeFilled();
  }
}
