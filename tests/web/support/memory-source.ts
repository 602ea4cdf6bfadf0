// A model's files in memory, as a host would serve them.
import type { ModelSource, OpenFile, OpenOptions } from "../../../web/src/model/sources/model-source.js";
import { LoadError } from "../../../web/src/shared/errors.js";

export type Files = Readonly<Record<string, Uint8Array | string | Error | undefined>>;

interface HostOptions {
  /** Whether the host states the size of its files. */
  statesSize?: boolean;
  /** What the host has instead once a file is requested past all caches. */
  afterReload?: Files;
}

/** Gives `files`, and records which ones are opened. A file that is an Error cannot be read. */
export class MemorySource implements ModelSource {
  readonly opened: { name: string; from: number; reload: boolean }[] = [];
  private files: Files;
  private readonly options: HostOptions;

  constructor(files: Files, options: HostOptions = {}) {
    this.files = files;
    this.options = options;
  }

  async open(name: string, { from = 0, reload = false }: Partial<OpenOptions>): Promise<OpenFile> {
    const { statesSize = true, afterReload } = this.options;
    this.opened.push({ name, from, reload });
    if (reload && afterReload) this.files = afterReload;
    const file = this.files[name];
    if (file === undefined) throw new LoadError("not-found", `there is no ${name}`);
    if (file instanceof Error) throw file;
    const blob = new Blob([typeof file === "string" ? file : Uint8Array.from(file)]);
    const size = from > 0 || !statesSize ? undefined : blob.size;
    return { size, stream: blob.slice(from).stream() };
  }

  /** Where the file `name` was opened, in this order. */
  placesOf(name: string): number[] {
    return this.opened.filter((file) => file.name === name).map(({ from }) => from);
  }
}
