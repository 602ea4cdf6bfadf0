import { LoadError } from "./errors.js";

/** The bytes in `packed`: compressed with raw DEFLATE, in base64, as web/scripts/pack.mjs writes them. */
export async function inflate(packed: string): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof DecompressionStream === "undefined") {
    throw new LoadError("unsupported", "this browser has no DecompressionStream, which unpacks the engine");
  }
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  // Not from a Blob: in WebKit, the worker of a page opened from disk cannot read blobs.
  const { readable, writable } = new DecompressionStream("deflate-raw");
  const writer = writable.getWriter();
  const [inflated] = await Promise.all([
    new Response(readable).arrayBuffer(),
    writer.write(bytes),
    writer.close(),
  ]);
  return new Uint8Array(inflated);
}
