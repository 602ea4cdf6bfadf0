// Measures how fast this device's threads read memory. Each reads its own part, like a model's weights for each token.
import { sumBytes } from "./sum-bytes.js";

/** Messages to a reader: first what to read, then repeated requests to read it. */
type ToReader =
  | { code: Uint8Array<ArrayBuffer>; bytes: number }
  | { rounds: number; meeting: SharedArrayBuffer | undefined; arrivals: number };

/** The answer: the duration in milliseconds. */
type FromReader = number;

/** Runs in a worker, to which it is sent as text, so it can use nothing else in this file. */
function reader(): void {
  let sum: ((bytes: number, rounds: number) => number) | undefined;
  let size = 0;
  self.onmessage = ({ data }: MessageEvent<ToReader>) => {
    const begin = performance.now();
    if ("code" in data) {
      size = data.bytes;
      const memory = new WebAssembly.Memory({ initial: Math.ceil(size / 65536) });
      new Uint8Array(memory.buffer).fill(1); // pages that were never written have no memory behind them
      const instance = new WebAssembly.Instance(new WebAssembly.Module(data.code), { page: { memory } });
      sum = instance.exports["sum"] as typeof sum;
      return self.postMessage(performance.now() - begin);
    }
    if (data.meeting) {
      // All start together. The first one polls for a moment, which keeps its core awake.
      const arrived = new Int32Array(data.meeting);
      Atomics.add(arrived, 0, 1);
      while (Atomics.load(arrived, 0) < data.arrivals);
    }
    const start = performance.now();
    sum?.(size, data.rounds);
    self.postMessage(performance.now() - start);
  };
}

/** The duration of a measurement: far longer than a step of the clock, and than threads take to start. */
const roundMs = 40;
/** The most memory of all readers together: several times the size of caches. */
const mostBytes = 256 * 1024 * 1024;
/** Bytes per step of the sum. */
const step = 64;

/** Bytes for each of `readers` out of `bytes`: whole steps, at least one, within the limit. */
export const shareOf = (bytes: number, readers: number): number =>
  Math.max(step, Math.floor(Math.min(bytes, mostBytes) / readers / step) * step);

/** Threads that read memory. They must be closed. */
export class Readers {
  private readonly workers: readonly Worker[];
  private readonly bytes: number;
  private readonly meeting: SharedArrayBuffer | undefined;
  private arrivals = 0;
  private rounds = 1;

  private constructor(workers: readonly Worker[], bytes: number) {
    this.workers = workers;
    this.bytes = bytes;
    // Without shared memory, models have only one thread, too.
    this.meeting = workers.length > 1 ? new SharedArrayBuffer(4) : undefined;
  }

  /** Starts `count` threads over `bytes` of memory together, within the limit. */
  static async open(count: number, bytes: number): Promise<Readers> {
    const address = URL.createObjectURL(new Blob([`(${reader.toString()})()`], { type: "text/javascript" }));
    const workers = Array.from({ length: count }, () => new Worker(address, { name: "reader" }));
    const readers = new Readers(workers, shareOf(bytes, count));
    try {
      await readers.tell({ code: sumBytes, bytes: readers.bytes });
      await readers.read(); // afterwards the browser has compiled it fully
      await readers.read();
      return readers;
    } catch (error) {
      readers.close();
      throw error;
    } finally {
      URL.revokeObjectURL(address);
    }
  }

  /** Bytes per second of all threads together. */
  async read(): Promise<number> {
    const { rounds } = this;
    this.arrivals += this.workers.length;
    const { meeting, arrivals } = this;
    const ms = Math.max(0.01, ...(await this.tell({ rounds, meeting, arrivals })));
    this.rounds = Math.max(1, Math.ceil((rounds * roundMs) / ms));
    return (this.bytes * this.workers.length * rounds * 1000) / ms;
  }

  close(): void {
    for (const worker of this.workers) worker.terminate();
  }

  private tell(message: ToReader): Promise<FromReader[]> {
    const answers = this.workers.map(
      (worker) =>
        new Promise<FromReader>((resolve, reject) => {
          worker.onmessage = ({ data }: MessageEvent<FromReader>) => resolve(data);
          worker.onerror = ({ message: what }) => reject(new Error(what || "a thread could not be started"));
          worker.postMessage(message);
        }),
    );
    return Promise.all(answers);
  }
}
