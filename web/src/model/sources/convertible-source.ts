// A model of the Hub or of local files, in any form. A converted model is read unchanged; all others are converted while
// they are read.
import type { WeightFormat } from "../../shared/formats.js";
import type { ConvertOptions } from "../convert/index.js";
import { isMissing, type ModelSource, type OpenFile, type OpenOptions } from "./model-source.js";
import { readOptionalText } from "./read-text.js";
import { withAdapters, withFile } from "./model-id.js";
import { LoadError } from "../../shared/errors.js";
import { versionOf, type Adapter } from "./adapter.js";
import { withoutWeights } from "./other-weights.js";

const indexFile = "weights.json";
const configFile = "config.json";

/** The contents of a config.json; undefined if it is missing or damaged, which the conversion reports. */
function parsed(config: string | undefined): unknown {
  try {
    return config === undefined ? undefined : JSON.parse(config);
  } catch {
    return undefined;
  }
}

async function converted(source: ModelSource, options: ConvertOptions): Promise<ModelSource> {
  let module: typeof import("../convert/index.js");
  try {
    module = await import("../convert/index.js");
  } catch (error) {
    throw new LoadError("network", `gpt2-convert.js cannot be loaded: ${String(error)}`);
  }
  return module.converted(source, options);
}

type SourceOptions = ConvertOptions & { weights: WeightFormat; adapters?: readonly Adapter[] };

export class ConvertibleSource implements ModelSource {
  readonly id: string | undefined;
  readonly weights: ModelSource["weights"];
  readonly version?: NonNullable<ModelSource["version"]>;
  readonly adapterVersion?: NonNullable<ModelSource["version"]>;
  private chosen: Promise<ModelSource> | undefined;

  private readonly inner: ModelSource;
  private readonly options: SourceOptions;

  /** `inner` has the files as published. */
  constructor(inner: ModelSource, options: SourceOptions) {
    this.inner = inner;
    this.options = options;

    const { adapters = [], gguf } = options;
    this.id = inner.id && withFile(inner.id, gguf);
    this.weights = options.weights;
    if (adapters.length > 0) {
      this.id = this.id && withAdapters(this.id, adapters);
      this.adapterVersion = (signal) => versionOf(adapters, signal);
    }
    // Without a version, the files are compared.
    if (inner.version) this.version = async (signal) => inner.version?.(signal);
  }

  async open(name: string, options: OpenOptions): Promise<OpenFile> {
    this.chosen ??= this.choose(options.signal);
    const chosen = await this.chosen;
    try {
      return await chosen.open(name, options);
    } catch (error) {
      // For these two files the conversion reads the weights, so the weights may be what is missing.
      const wantsWeights = name === configFile || name === "model.safetensors";
      if (!isMissing(error) || chosen === this.inner || !wantsWeights || this.options.gguf !== undefined)
        throw error;
      throw await withoutWeights(this.inner, error, options.signal);
    }
  }

  private async choose(signal: AbortSignal): Promise<ModelSource> {
    const { inner, options } = this;
    if (options.gguf !== undefined) return converted(inner, options);
    const [index, config] = await Promise.all(
      [indexFile, configFile].map((name) => readOptionalText(inner, name, signal)),
    );
    const isConverted = index !== undefined || "quantization_config" in Object(parsed(config));
    if (!isConverted) return converted(inner, { ...options, config });
    if (!options.adapters?.length) return inner;
    throw new LoadError(
      "unsupported",
      "an adapter can be merged only into a model that is not converted yet: load the original model with it",
    );
  }
}
