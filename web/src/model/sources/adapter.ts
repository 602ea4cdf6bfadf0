// A LoRA adapter that is merged into a model during its conversion.
import type { AdapterFiles } from "../convert/converter.js";
import type { ModelSource } from "./model-source.js";
import { readWhole } from "./read-text.js";
import { sha256 } from "../sha256.js";

const configFile = "adapter_config.json";
const tensorsFile = "adapter_model.safetensors";

export class Adapter {
  /** Read once per load, so that the merged files match the reported version. */
  private read: Promise<AdapterFiles> | undefined;

  private readonly source: ModelSource;
  /** Factor for the adapter's contribution. */
  readonly weight: number;

  constructor(source: ModelSource, weight: number) {
    this.source = source;
    this.weight = weight;
  }

  get id(): string | undefined {
    return this.source.id;
  }

  /** The adapter's files, which are read once. */
  async files(signal: AbortSignal): Promise<AdapterFiles> {
    this.read ??= this.readFiles(signal);
    return this.read;
  }

  /** The hub's own name for the current version, or a hash of the files; undefined if unknown. */
  async version(signal: AbortSignal): Promise<string | undefined> {
    if (this.source.version) return this.source.version(signal);
    const { config, tensors } = await this.files(signal);
    const hashes = [new TextEncoder().encode(config), tensors].map(sha256);
    return (await Promise.all(hashes)).join("-");
  }

  private async readFiles(signal: AbortSignal): Promise<AdapterFiles> {
    // Only the host can tell whether these files are current, so caches are bypassed.
    const reload = !this.source.version;
    const read = async (name: string) =>
      readWhole(await this.source.open(name, { signal, reload }), name, signal);
    const [config, tensors] = await Promise.all([read(configFile), read(tensorsFile)]);
    return {
      name: this.id ?? "the adapter's files",
      config: new TextDecoder().decode(config),
      tensors,
      weight: this.weight,
    };
  }
}

/** The versions of all `adapters`; undefined if one is unknown. */
export async function versionOf(
  adapters: readonly Adapter[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const versions = await Promise.all(adapters.map((adapter) => adapter.version(signal)));
  return versions.includes(undefined) ? undefined : versions.join(" ");
}
