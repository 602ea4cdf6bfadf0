// Reads streams of bytes in little memory.

/** What one read takes at most, in bytes. */
const portion = 256 * 1024;

/** Memory that readers which have come to an end had, for the next ones. */
const spare: ArrayBuffer[] = [];
/** As many files are read at once, as a rule. */
const mostSpare = 4;

export interface ByteReader {
  /** The next chunk, which is valid until the next is asked for; undefined at the end. */
  read: () => Promise<Uint8Array<ArrayBuffer> | undefined>;
  cancel: (reason?: unknown) => Promise<void>;
}

/**
 * Reads `stream` into the same memory again and again, where it can be read so, as a browser's own streams can. Chunks with memory of
 * their own would be garbage, of which browsers let a hundred megabytes pile up.
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
      // A stream that was cancelled gives no memory back.
      if (done && value && spare.length < mostSpare) spare.push(value.buffer);
      if (done) return undefined;
      memory = value.buffer;
      return value;
    },
    cancel: (reason) => reader.cancel(reason),
  };
}
