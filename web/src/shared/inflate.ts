import { LoadError } from "./errors.js";

/** The bytes that are in `packed`: compressed (raw DEFLATE), in base64. */
export async function inflate(packed: string): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof DecompressionStream === "undefined") {
    throw new LoadError("unsupported", "this browser has no DecompressionStream, which unpacks the engine");
  }
  // Not from a Blob: WebKit's cannot be read in the worker of a page on a disk.
  const { readable, writable } = new DecompressionStream("deflate-raw");
  const writer = writable.getWriter();
  const [inflated] = await Promise.all([
    new Response(readable).arrayBuffer(),
    writer.write(Uint8Array.from(atob(packed), (character) => character.charCodeAt(0))),
    writer.close(),
  ]);
  return new Uint8Array(inflated);
}
