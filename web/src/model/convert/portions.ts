// Collects a converter's small outputs into larger portions, because each transfer creates garbage.

/** In bytes. */
const portionBytes = 256 * 1024;
/** After this time, in milliseconds, a smaller portion is passed on, so that progress is reported. */
const patienceMs = 100;

/** Each portion is valid until the next is requested. */
export class Portions {
  private readonly buffer = new Uint8Array(portionBytes);
  private filled = 0;
  private handedOn = -Infinity;
  private toDrop: number;

  /** The first `toDrop` bytes are not passed on. */
  constructor(toDrop: number) {
    this.toDrop = toDrop;
  }

  /** Adds `bytes`, and yields full portions. */
  *add(bytes: Uint8Array): Generator<Uint8Array, void> {
    const dropped = Math.min(this.toDrop, bytes.length);
    this.toDrop -= dropped;
    for (let rest = bytes.subarray(dropped); rest.length > 0;) {
      const part = rest.subarray(0, portionBytes - this.filled);
      this.buffer.set(part, this.filled);
      this.filled += part.length;
      rest = rest.subarray(part.length);
      if (this.filled === portionBytes) yield* this.rest();
    }
  }

  /** Yields bytes that have waited too long, and the very first ones. */
  *late(): Generator<Uint8Array, void> {
    if (performance.now() - this.handedOn > patienceMs) yield* this.rest();
  }

  /** Returns the remaining bytes. */
  *rest(): Generator<Uint8Array, void> {
    if (this.filled === 0) return;
    const bytes = this.buffer.subarray(0, this.filled);
    this.filled = 0;
    this.handedOn = performance.now();
    yield bytes;
  }
}
