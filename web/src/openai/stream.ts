// A stream of chunks, with the methods of a stream in OpenAI's client.
import type { CompletionChunk, CompletionStream } from "./types.js";

const isAbort = (error: unknown) => error instanceof Error && error.name === "AbortError";

export class ChunkStream implements CompletionStream {
  readonly controller: AbortController;
  private readonly iterator: AsyncIterator<CompletionChunk>;

  constructor(iterator: AsyncIterator<CompletionChunk>, controller: AbortController) {
    this.iterator = iterator;
    this.controller = controller;
  }

  [Symbol.asyncIterator](): AsyncIterator<CompletionChunk> {
    return this.iterator;
  }

  tee(): [CompletionStream, CompletionStream] {
    type Results = Promise<IteratorResult<CompletionChunk>>[];
    const queues: [Results, Results] = [[], []];
    const branch = (own: Results) =>
      new ChunkStream(
        {
          next: () => {
            if (own.length === 0) {
              const result = this.iterator.next();
              for (const queue of queues) queue.push(result);
            }
            return own.shift() ?? this.iterator.next();
          },
        },
        this.controller,
      );
    return [branch(queues[0]), branch(queues[1])];
  }

  toReadableStream(): ReadableStream<Uint8Array> {
    return bytesOf(this, (chunk) => `${JSON.stringify(chunk)}\n`);
  }
}

/** The chunks as bytes: `write` turns each into text, and `end` comes last. Cancelling it stops the model. */
export function bytesOf(
  stream: CompletionStream,
  write: (chunk: CompletionChunk) => string,
  end = "",
): ReadableStream<Uint8Array> {
  const iterator = stream[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (!next.done) return controller.enqueue(encoder.encode(write(next.value)));
      if (end) controller.enqueue(encoder.encode(end));
      controller.close();
    },
    async cancel() {
      stream.controller.abort();
      await iterator.return?.();
    },
  });
}

/**
 * A stream of what `chunks` yields. Aborting its controller, or `signal`, ends it without an error, as in OpenAI's client.
 * An abort with the caller's own reason throws that reason.
 */
export function streamOf(
  chunks: (signal: AbortSignal) => AsyncIterable<CompletionChunk>,
  signal: AbortSignal | undefined,
): CompletionStream {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  async function* quiet(): AsyncGenerator<CompletionChunk> {
    try {
      yield* chunks(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted || !isAbort(error)) throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }
  return new ChunkStream(quiet(), controller);
}
