// Reads and makes streams of bytes in little memory.

/** Bytes per read at most. */
const portion = 256 * 1024;

/** Buffers of finished readers, to be used again. */
const spare: ArrayBuffer[] = [];
/** The usual number of files that are read at once. */
const mostSpare = 4;

export interface ByteReader {
  /** The next chunk, valid until the next call; undefined at the end. */
  read: () => Promise<Uint8Array<ArrayBuffer> | undefined>;
  cancel: (reason?: unknown) => Promise<void>;
}

/**
 * Reads `stream` into the same memory again and again, if it supports that, as a browser's own streams do. Chunks with
 * their own memory would become garbage, and browsers let a hundred megabytes of it pile up.
 */
export function byteReader(stream: ReadableStream<Uint8Array>): ByteReader {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch {
    const plain = (stream as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
    return { read: async () => (await plain.read()).value, cancel: (reason) => plain.cancel(reason) };
  }
  let memory = spare.pop() ?? new ArrayBuffer(portion);
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(memory));
      // A cancelled stream does not return its memory.
      if (done && value && spare.length < mostSpare) spare.push(value.buffer);
      if (done) return undefined;
      memory = value.buffer;
      return value;
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

/** A stream of `chunks`, each requested on demand. Cancelling the stream ends them. */
export function streamOf(chunks: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
}
