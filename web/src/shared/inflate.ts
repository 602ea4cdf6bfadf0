import { LoadError } from "./errors.js";

/** A digit is one of 85 characters from "#" on, without the backslash, which would need two characters in a script. */
const zero = 35;
const backslash = 92;

/**
 * The bytes of a text in base 85: 5 digits, the highest first, encode 4 bytes. It is a sixteenth shorter than base 64.
 */
function fromBase85(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array((text.length / 5) * 4);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < text.length; at += 5) {
    let word = 0;
    for (let i = at; i < at + 5; i += 1) {
      const code = text.charCodeAt(i);
      word = word * 85 + code - zero - (code > backslash ? 1 : 0);
    }
    view.setUint32((at / 5) * 4, word);
  }
  return bytes;
}

/** The `size` bytes in `packed`: compressed with raw DEFLATE, padded with zeros, in base 85. */
export async function inflate({ text, size }: Packed): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof DecompressionStream === "undefined") {
    throw new LoadError("unsupported", "this browser has no DecompressionStream, which unpacks the engine");
  }
  // Not from a Blob: in WebKit, the worker of a page opened from disk cannot read blobs.
  const { readable, writable } = new DecompressionStream("deflate-raw");
  const writer = writable.getWriter();
  const [inflated] = await Promise.all([
    new Response(readable).arrayBuffer(),
    writer.write(fromBase85(text).subarray(0, size)),
    writer.close(),
  ]);
  return new Uint8Array(inflated);
}

/** Created by web/scripts/pack.mjs. */
export interface Packed {
  text: string;
  /** Compressed bytes. */
  size: number;
}
