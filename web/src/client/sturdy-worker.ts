// A worker that is started in the first way that works.
import type { FromWorker, ToWorker } from "../shared/protocol.js";
import { silentWorker } from "../shared/failures.js";
import { release } from "../shared/release.js";
import { notImported } from "../shared/script-address.js";
import type { WorkerPort } from "./connection.js";
import { isAnswer } from "./read-answer.js";

/**
 * As a Worker. Until it speaks, one that cannot be loaded is replaced by the next way's. One that no way loads, that stays
 * silent, is damaged or of another release is replaced by `renew`'s, once: a cache may be at fault. `last` makes the worker
 * that is left where none of their scripts is found.
 */
export class SturdyWorker implements WorkerPort {
  onmessage: ((event: MessageEvent<unknown>) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  onmessageerror: ((event: MessageEvent) => void) | null = null;

  /** There is none while `last` makes one. */
  private worker: Worker | undefined;
  /** What was sent to a worker that has not spoken yet. */
  private unheard: ToWorker[] | undefined = [];
  /** What cannot be sent twice, and what comes after it: it waits until the worker speaks. */
  private held: [message: ToWorker, transfer: Transferable[]][] = [];
  private isTerminated = false;
  private silence: ReturnType<typeof setTimeout> | undefined;

  /** Throws what the last of `ways` throws if all of them throw. */
  private readonly ways: (() => Worker)[];
  private renew: (() => Worker) | undefined;
  private last: (() => Promise<Worker>) | undefined;

  private readonly silentMs: number;

  /** `silentMs`: a worker that is silent for this long counts as failed: its script is empty, or does not arrive. */
  constructor(
    ways: (() => Worker)[],
    renew: (() => Worker) | undefined,
    silentMs: number,
    last?: () => Promise<Worker>,
  ) {
    this.ways = ways;
    this.renew = renew;
    this.silentMs = silentMs;
    this.last = last;

    try {
      this.worker = this.startNext();
    } catch (error) {
      if (!this.startLast({ message: "", error } as ErrorEvent)) throw error;
    }
  }

  postMessage(message: ToWorker, transfer: Transferable[] = []): void {
    if (this.unheard && transfer.length + this.held.length > 0) {
      this.held.push([message, transfer]);
      return;
    }
    this.worker?.postMessage(message, transfer);
    this.unheard?.push(message);
  }

  terminate(): void {
    this.isTerminated = true;
    clearTimeout(this.silence);
    this.worker?.terminate();
  }

  private startNext(): Worker {
    const way = this.ways.shift();
    if (!way) throw new Error("no way to start it is known");
    let worker: Worker;
    try {
      worker = way();
    } catch (error) {
      if (this.ways.length === 0) throw error;
      return this.startNext();
    }
    this.listenTo(worker);
    return worker;
  }

  private listenTo(worker: Worker): void {
    worker.onmessage = (event: MessageEvent<unknown>) => {
      if (!isAnswer(event.data)) return; // another script's, which says nothing of this one
      if (this.isRenewed(event.data as FromWorker)) return;
      clearTimeout(this.silence);
      this.unheard = undefined;
      for (const [message, transfer] of this.held.splice(0)) worker.postMessage(message, transfer);
      this.onmessage?.(event);
    };
    worker.onmessageerror = (event) => this.onmessageerror?.(event);
    worker.onerror = (event) => {
      if (!this.replace(event)) this.onerror?.(event);
    };
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      if (!this.startRenewed()) this.onerror?.({ message: silentWorker } as ErrorEvent);
    }, this.silentMs);
  }

  /** Whether another worker has taken the place of one that says that it is not the right one. */
  private isRenewed(message: FromWorker): boolean {
    const isRight = message.type === "started" ? message.release === release : message.type !== "damaged";
    return !isRight && this.startRenewed();
  }

  private startRenewed(): boolean {
    const { renew, unheard } = this;
    if (!renew || !unheard) return false;
    this.renew = undefined;
    this.ways.splice(0, this.ways.length, renew);
    return this.restart(unheard);
  }

  /** Whether another worker has taken the place of the one that told of `event`. */
  private replace(event: ErrorEvent): boolean {
    const { unheard } = this;
    // One that runs and fails says why, and may be damaged; one that the browser did not load does not.
    const isMissing = !event.message || event.message.includes(notImported);
    if (unheard && !event.message && this.ways.length > 0) return this.restart(unheard);
    return this.startRenewed() || (isMissing && this.startLast(event));
  }

  /** Whether the last worker is being made; if that fails, `event` is what the others failed with. */
  private startLast(event: ErrorEvent): boolean {
    const { last, unheard } = this;
    if (!last || !unheard || this.isTerminated) return false;
    this.last = undefined;
    clearTimeout(this.silence);
    this.worker?.terminate();
    this.worker = undefined;
    const begin = (worker: Worker) => {
      if (this.isTerminated) return worker.terminate();
      this.worker = worker;
      this.listenTo(worker);
      for (const message of unheard) worker.postMessage(message);
    };
    last().then(begin, () => this.onerror?.(event));
    return true;
  }

  private restart(unheard: readonly ToWorker[]): boolean {
    if (this.isTerminated) return false;
    this.worker?.terminate();
    try {
      const worker = this.startNext();
      this.worker = worker;
      for (const message of unheard) worker.postMessage(message);
    } catch {
      return false;
    }
    return true;
  }
}
