// Local files that the user has picked or dropped.
import { byteReader } from "./byte-streams.js";
import type { ModelSource, OpenFile, OpenOptions } from "./model-source.js";
import { LoadError } from "../../shared/errors.js";
import type { FilesRequest } from "../../shared/protocol.js";

export class FilesSource implements ModelSource {
  private readonly files: ReadonlyMap<string, File>;

  constructor({ files }: FilesRequest) {
    this.files = new Map(files.map(({ name, file }) => [name, file]));
  }

  async open(name: string, { signal, from = 0 }: OpenOptions): Promise<OpenFile> {
    signal.throwIfAborted();
    const file = this.files.get(name);
    if (!file) {
      const list = [...this.files.keys()].slice(0, 8).join(", ");
      throw new LoadError("not-found", `there is no ${name} among the files (${list})`);
    }
    const reader = byteReader((from > 0 ? file.slice(from) : file).stream());
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const chunk = await reader.read();
            if (chunk) controller.enqueue(chunk);
            else controller.close();
          } catch (error) {
            throw new LoadError(
              "network",
              `${name} cannot be read (${String(error)}): it has been changed or removed since it was picked`,
            );
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    return { size: from > 0 ? undefined : file.size, stream };
  }

  async list(): Promise<string[]> {
    return [...this.files.keys()];
  }
}
