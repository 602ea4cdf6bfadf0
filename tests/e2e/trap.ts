// Makes builds of the engine that trap in one function or in the helper threads, as a bug in WebAssembly would.
import { createHash } from "node:crypto";

const unreachable = 0x00;
const nop = 0x01;
const end = 0x0b;
const sections = { export: 7, code: 10 };

/** Reads WebAssembly's binary format: https://webassembly.github.io/spec/core/binary/ */
class Reader {
  private readonly bytes: Uint8Array;
  public at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }
  byte(): number {
    return this.bytes[this.at++] ?? 0;
  }
  /** LEB128, unsigned. */
  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }
  skip(length: number): void {
    this.at += length;
  }
  name(): string {
    const length = this.number();
    this.skip(length);
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
  }
}

/** Updates the hash at the end of `bytes`, so that the module counts as faulty, not as damaged. */
function hashed(bytes: Uint8Array): Uint8Array {
  const start = bytes.subarray(0, -64);
  return Buffer.concat([start, Buffer.from(createHash("sha256").update(start).digest("hex"))]);
}

/** A copy of `wasm`, whose exported function `name` traps as soon as it is called. */
export function withTrap(wasm: Uint8Array, name: string): Uint8Array {
  const bytes = wasm.slice();
  const imported = WebAssembly.Module.imports(new WebAssembly.Module(wasm as BufferSource));
  const firstOfCode = imported.filter(({ kind }) => kind === "function").length;
  let target: number | undefined;
  for (const reader = new Reader(bytes, 8); reader.at < bytes.length;) {
    const id = reader.byte();
    const size = reader.number();
    const next = reader.at + size;
    if (id === sections.export) {
      for (let left = reader.number(); left > 0; --left) {
        const exported = reader.name();
        const kind = reader.byte();
        const index = reader.number();
        if (kind === 0 && exported === name) target = index - firstOfCode;
      }
    }
    if (id === sections.code && target !== undefined) {
      reader.number();
      for (let skipped = 0; skipped < target; ++skipped) reader.skip(reader.number());
      const length = reader.number();
      // No locals; what remains of the body is never reached.
      bytes.set([0, unreachable], reader.at);
      bytes.fill(nop, reader.at + 2, reader.at + length - 1);
      bytes[reader.at + length - 1] = end;
      return hashed(bytes);
    }
    reader.at = next;
  }
  throw new Error(`there is no exported function "${name}"`);
}

/**
 * Code before the engine's script that makes its helper threads trap in the first chunk of a loop. The function that runs
 * a chunk is called by its place in the table of functions, which is emptied in a helper.
 */
export const trapInHelpers = `if (self.name === "gpt2-thread") {
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (code, imports) {
    const instance = new Instance(code, imports);
    const table = instance.exports.__indirect_function_table;
    for (let place = 0; place < table.length; ++place) table.set(place, null);
    return instance;
  };
}`;
