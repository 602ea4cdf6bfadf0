// A published model, presented as the folder that `gpt2-weights convert` would create from it.
import type { StoredFormat } from "../../shared/formats.js";
import {
  chunksOf,
  fileOf,
  type ReadOfInputs,
  type ModelSource,
  type OpenFile,
  type OpenOptions,
} from "../sources/model-source.js";
import { mostHeadBytes } from "../limits.js";
import { readText } from "../sources/read-text.js";
import { weightChunksOf } from "../sources/weight-chunks.js";
import { LoadError } from "../../shared/errors.js";
import { joined } from "../../shared/joined.js";
import { streamOf } from "../sources/byte-streams.js";
import type { Converter, AdapterFiles, ConvertedFolder } from "./converter.js";
import { Portions } from "./portions.js";
import { endOfTensors, feedZeros, restartPlace, type RestartPlace } from "./restart.js";
import { findWeights, readHead, readPart, type WeightFile, type WeightFiles } from "./weight-files.js";

const weightsFile = "model.safetensors";

export interface ConvertOptions {
  weights: StoredFormat;
  /** The name of the GGUF file that contains the whole model; undefined for a folder with float weights. */
  gguf?: string;
  /** The text of config.json, if it is already read. */
  config?: string | undefined;
  /** Adapters to merge, in this order. */
  adapters?: readonly { files(signal: AbortSignal): Promise<AdapterFiles> }[];
  createConverter: () => Promise<Converter>;
}

/** A running conversion and its output so far. */
interface Running {
  folder: ConvertedFolder;
  /** The next bytes of the converted model.safetensors. */
  output: AsyncGenerator<Uint8Array, void>;
  made: ReadOfInputs;
}

/** The place where a conversion resumes. */
interface Start {
  place: RestartPlace;
  /** Bytes that the converter has output up to there. */
  givenBytes: number;
  /** The header of the output. */
  wanted: Uint8Array;
  /** Bytes of the input files that are not read again. */
  skippedBytes: number;
}

const textFile = (text: string) => fileOf(new TextEncoder().encode(text));

/** undefined if one of the sizes is unknown. */
const sum = (sizes: readonly (number | undefined)[]) =>
  sizes.reduce((all, size) => (all === undefined || size === undefined ? undefined : all + size), 0);

async function* followedBy<T>(first: T[], rest: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  try {
    yield* first.splice(0);
    yield* rest;
  } finally {
    await rest.return();
  }
}

/**
 * The model in `inner`, converted while it streams: config.json, model.safetensors and the tokenizer, which comes from
 * `inner` or the GGUF file. The first file that is opened starts the conversion, and model.safetensors continues it.
 * Opening model.safetensors again starts over.
 */
export class ConvertedSource implements ModelSource {
  private readonly inner: ModelSource;
  private readonly options: ConvertOptions;
  /** A conversion that was started for the texts and whose weights are not read yet. */
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
      case "merges.txt":
      case "tokenizer_config.json": {
        if (this.options.gguf === undefined) return this.inner.open(name, options);
        const { vocab, merges, tokenizerConfig } = await this.readFolder(options);
        const text = { "vocab.json": vocab, "merges.txt": merges, "tokenizer_config.json": tokenizerConfig }[
          name
        ];
        if (text === "") throw new LoadError("not-found", `${this.options.gguf} contains no ${name}`);
        return textFile(text);
      }
      case "tokenizer.json":
      case "special_tokens_map.json":
      case "added_tokens.json":
      case "vocab.txt":
      case "spiece.model":
      case "tokenizer.model":
        if (this.options.gguf === undefined) return this.inner.open(name, options);
        throw new LoadError("not-found", `${this.options.gguf} contains no ${name}`);
      case "weights.json":
        throw new LoadError("not-found", `there is no ${name}: the model is converted while it is read`);
      default:
        return this.inner.open(name, options);
    }
  }

  private async readFolder(options: OpenOptions): Promise<ConvertedFolder> {
    const begun = (this.begun ??= this.begin(options));
    begun.catch(() => (this.begun = undefined)); // the next call starts again
    this.folder ??= (await begun).folder;
    return this.folder;
  }

  private async openWeights(options: OpenOptions): Promise<OpenFile> {
    const from = options.from ?? 0;
    if (from > 0) {
      // Ends the conversion that was started but not read.
      void this.begun?.then(({ output }) => output.return()).catch(() => {});
      this.begun = undefined;
    }
    const begun = this.begun ?? this.begin(options, from);
    this.begun = undefined;
    const { folder, output, made } = await begun;
    return { size: folder.weightBytes, stream: streamOf(output), made };
  }

  /** `from`: bytes of the converted weights that are stored already. */
  private async begin({ signal }: OpenOptions, from = 0): Promise<Running> {
    const { weights, gguf, adapters = [], createConverter } = this.options;
    const [config, { form, files }, converter, adapterFiles] = await Promise.all([
      this.options.config ?? (gguf === undefined ? readText(this.inner, "config.json", signal) : undefined),
      this.findFiles(signal),
      createConverter(),
      Promise.all(adapters.map((adapter) => adapter.files(signal))),
    ]);
    const torchSizes = form === "torch" ? await this.readTorch(converter, files, signal) : undefined;
    // In other forms, an interrupted conversion starts over.
    const needsHeads = form === "safetensors" && (files.length > 1 || from > 0);
    const room = { bytes: mostHeadBytes };
    const heads = needsHeads
      ? await Promise.all(files.map((file) => readHead(this.inner, file, room, signal)))
      : undefined;
    const bytes = heads?.map((head) => head.bytes);
    converter.begin({ weights, config, heads: files.length > 1 ? bytes : undefined, adapters: adapterFiles });
    const sizes = torchSizes ?? heads?.map(({ fileSize }) => fileSize) ?? [files[0]?.file?.size];
    const made: ReadOfInputs = { readBytes: 0, totalBytes: sum(sizes) };
    const start = from > 0 && bytes ? await this.skip(converter, bytes, from, signal) : undefined;
    made.readBytes = start?.skippedBytes ?? 0;
    const unread = heads || torchSizes ? files.map(({ name }) => ({ name })) : files;
    const rest = this.convert(converter, unread, made, signal, { from, start });
    const ready: Uint8Array[] = [];
    while (!converter.folder) {
      const { done, value } = await rest.next();
      if (!done) ready.push(value.slice());
    }
    return { folder: converter.folder, output: followedBy(ready, rest), made };
  }

  private async findFiles(signal: AbortSignal): Promise<WeightFiles> {
    const { gguf } = this.options;
    return gguf === undefined ? findWeights(this.inner, signal) : { form: "gguf", files: [{ name: gguf }] };
  }

  /** Passes the contents of torch.save files to `converter`. Returns their sizes. */
  private async readTorch(
    converter: Converter,
    files: readonly WeightFile[],
    signal: AbortSignal,
  ): Promise<(number | undefined)[]> {
    const sizes: (number | undefined)[] = [];
    for (const { name, file } of files) {
      let opened: OpenFile | undefined = file ?? (await this.inner.open(name, { signal }));
      sizes.push(opened.size);
      await converter.addTorchFile(name, opened.size, (part) => {
        const first = opened;
        opened = undefined;
        return readPart(this.inner, name, { ...part, opened: first }, signal);
      });
    }
    return sizes;
  }

  /**
   * Moves `converter` to the first tensor that is incomplete in the first `from` bytes of its output. The input before
   * that tensor is not read again. Zeros take its place, because its converted form is already stored.
   */
  private async skip(
    converter: Converter,
    heads: readonly Uint8Array[],
    from: number,
    signal: AbortSignal,
  ): Promise<Start> {
    const given: Uint8Array[] = [];
    for (const bytes of converter.feed(heads[0] ?? new Uint8Array())) given.push(bytes.slice());
    const head = joined(given);
    const place = restartPlace(heads, head, from);
    let givenBytes = head.length;
    let skippedBytes = place.at;
    for (const [number, skipped] of heads.slice(0, place.file + 1).entries()) {
      if (number > 0) for (const bytes of converter.feed(skipped)) givenBytes += bytes.length;
      const end = number === place.file ? place.at : endOfTensors(skipped);
      if (number < place.file) skippedBytes += end;
      givenBytes += await feedZeros(converter, end - skipped.length, signal);
    }
    return { place, givenBytes, wanted: head.subarray(from), skippedBytes };
  }

  private async *convert(
    converter: Converter,
    files: readonly WeightFile[],
    made: ReadOfInputs,
    signal: AbortSignal,
    { from, start }: { from: number; start: Start | undefined },
  ): AsyncGenerator<Uint8Array, void> {
    const { file: first, at } = start?.place ?? { file: 0, at: 0 };
    const portions = new Portions(Math.max(0, from - (start?.givenBytes ?? 0)));
    if (start) yield* portions.add(start.wanted);
    for (const [number, { name, file }] of files.entries()) {
      if (number < first) continue;
      const opened = file ?? (await this.inner.open(name, { signal, ...(number === first && { from: at }) }));
      if (files.length === 1) made.totalBytes ??= opened.size;
      const read = number === first && at > 0 ? chunksOf : weightChunksOf;
      for await (const chunk of read(opened, name, signal)) {
        made.readBytes += chunk.length;
        for (const bytes of converter.feed(chunk)) yield* portions.add(bytes);
        yield* portions.late();
      }
    }
    converter.end();
    yield* portions.rest();
  }
}
