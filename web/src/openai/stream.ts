// A stream of chunks, with the methods of a stream in OpenAI's client.
import { refuse } from "../shared/refuse.js";
import type { CompletionChunk, CompletionStream } from "./types.js";

const isAbort = (error: unknown) => error instanceof Error && error.name === "AbortError";

type Chunks = AsyncIterator<CompletionChunk, undefined>;

export class ChunkStream implements CompletionStream {
  readonly controller: AbortController;
  private readonly iterate: () => Chunks;

  constructor(iterate: () => Chunks, controller: AbortController) {
    this.iterate = iterate;
    this.controller = controller;
  }

  [Symbol.asyncIterator](): Chunks {
    return this.iterate();
  }

  tee(): [CompletionStream, CompletionStream] {
    const source = this.iterate();
    type Results = Promise<IteratorResult<CompletionChunk, undefined>>[];
    const queues: [Results, Results] = [[], []];
    const branch = (own: Results) => {
      const next = () => {
        if (own.length === 0) {
          const result = source.next();
          for (const queue of queues) queue.push(result);
        }
        return own.shift() ?? source.next();
      };
      return new ChunkStream(() => ({ next }), this.controller);
    };
    return [branch(queues[0]), branch(queues[1])];
  }

  toReadableStream(): ReadableStream<Uint8Array> {
    return bytesOf(this, (chunk) => `${JSON.stringify(chunk)}\n`);
  }
}

/**
 * The chunks as bytes: `write` turns each into text. `stream` is read only when the bytes are. Cancelling them stops the
 * model. With `end`, they act like a server's answer: `end` comes last, and aborting `signal` is an error, because bytes
 * are missing.
 */
export function bytesOf(
  stream: CompletionStream,
  write: (chunk: CompletionChunk) => string,
  end = "",
  signal = stream.controller.signal,
): ReadableStream<Uint8Array> {
  let iterator: AsyncIterator<CompletionChunk> | undefined;
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        iterator ??= stream[Symbol.asyncIterator]();
        const next = await iterator.next();
        if (!next.done) return controller.enqueue(encoder.encode(write(next.value)));
        if (end) {
          signal.throwIfAborted();
          controller.enqueue(encoder.encode(end));
        }
        controller.close();
      },
      async cancel() {
        stream.controller.abort();
        await iterator?.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** `stream`, once it has its first chunk. Rejects if that fails, as it does for a prompt that does not fit. */
export async function begun(stream: CompletionStream): Promise<CompletionStream> {
  const chunks = stream[Symbol.asyncIterator]();
  let first: ReturnType<Chunks["next"]> | undefined = chunks.next();
  await first;
  const iterator: Chunks = {
    next() {
      const result = first ?? chunks.next();
      first = undefined;
      return result;
    },
    async return() {
      await chunks.return?.();
      return { done: true, value: undefined };
    },
  };
  return new ChunkStream(() => iterator, stream.controller);
}

/**
 * A stream of what `chunks` yields, to be read once. Aborting its controller, or `signal`, ends it without an error, and
 * leaving a loop over it aborts the controller, as in OpenAI's client. Aborting the controller with a reason throws that.
 */
export function streamOf(
  chunks: (signal: AbortSignal) => AsyncIterable<CompletionChunk>,
  signal: AbortSignal | undefined,
): CompletionStream {
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal?.addEventListener("abort", abort, { once: true });
  let isConsumed = false;
  async function* iterate(): AsyncGenerator<CompletionChunk, undefined> {
    if (isConsumed) refuse("this stream has been read already: use `.tee()` to read it twice");
    isConsumed = true;
    let isDone = false;
    try {
      yield* chunks(controller.signal);
      isDone = true;
    } catch (error) {
      if (!controller.signal.aborted || !isAbort(error)) throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
      if (!isDone) controller.abort();
    }
  }
  return new ChunkStream(iterate, controller);
}
