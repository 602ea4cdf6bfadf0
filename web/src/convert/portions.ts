// What a converter gives, some kilobytes at a time, in larger portions: each handing on leaves garbage.

/** In bytes. */
const portionBytes = 256 * 1024;
/** After this time, in milliseconds, a smaller portion is handed on, so that progress is reported. */
const patienceMs = 100;

/** Each portion is valid until the next is asked for. */
export class Portions {
  private readonly buffer = new Uint8Array(portionBytes);
  private filled = 0;
  private handedOn = -Infinity;
  private toDrop: number;

  /** The first `toDrop` bytes are not handed on. */
  constructor(toDrop: number) {
    this.toDrop = toDrop;
  }

  /** Takes `bytes`, and gives what is full. */
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

  /** Gives what has waited for long, and what comes first. */
  *late(): Generator<Uint8Array, void> {
    if (performance.now() - this.handedOn > patienceMs) yield* this.rest();
  }

  /** Returns the bytes that have come. */
  *rest(): Generator<Uint8Array, void> {
    if (this.filled === 0) return;
    const bytes = this.buffer.subarray(0, this.filled);
    this.filled = 0;
    this.handedOn = performance.now();
    yield bytes;
  }
}
