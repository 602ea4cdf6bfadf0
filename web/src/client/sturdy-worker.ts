// A worker that tries several ways to start.
import type { FromWorker, ToWorker } from "../shared/protocol.js";
import { silentWorker } from "../shared/failures.js";
import { release } from "../shared/release.js";
import { notImported } from "../shared/script-address.js";
import type { WorkerPort } from "./connection.js";
import { isAnswer } from "./read-answer.js";

/**
 * Acts as a Worker. If a worker cannot be loaded before its first message, the next way is tried. A worker that is
 * silent or of another release is replaced once by that of `renew`, because a cache may be at fault. So is the last one
 * that cannot be loaded. `last` creates the final worker, if the others are silent, of another release or not loaded.
 */
export class SturdyWorker implements WorkerPort {
  onmessage: ((event: MessageEvent<unknown>) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  onmessageerror: ((event: MessageEvent) => void) | null = null;

  /** undefined while `last` creates one. */
  private worker: Worker | undefined;
  /** Messages to a worker that has not sent its first message. */
  private unheard: ToWorker[] | undefined = [];
  /**
   * Messages with transferred objects, which cannot be sent twice, and those after them. They wait for the worker's
   * first message.
   */
  private held: [message: ToWorker, transfer: Transferable[]][] = [];
  private isTerminated = false;
  private silence: ReturnType<typeof setTimeout> | undefined;

  /** If all of `ways` throw, throws the error of the last one. */
  private readonly ways: (() => Worker)[];
  private renew: (() => Worker) | undefined;
  private last: (() => Promise<Worker>) | undefined;

  private readonly silentMs: number;

  /** A worker that is silent for `silentMs` counts as failed: its script is empty or does not arrive. */
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
    if (!way) throw new Error("there is no way to start the worker");
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
      if (!isAnswer(event.data)) return; // sent by another script
      if (this.isRenewed(event.data as FromWorker)) return;
      clearTimeout(this.silence);
      this.unheard = undefined;
      for (const [message, transfer] of this.held.splice(0)) worker.postMessage(message, transfer);
      this.onmessage?.(event);
    };
    worker.onmessageerror = (event) => this.onmessageerror?.(event);
    // To return `false` cancels the event: the page's `onerror` does not receive the error of a worker that is replaced.
    worker.onerror = (event) => !this.replace(event) && this.onerror?.(event);
    this.awaitMessage();
  }

  /** Time in which the page cannot run does not count: browsers start no worker for a prerendered page. */
  private awaitMessage(): void {
    const begun = performance.now();
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      const { hidden = false } = (globalThis as { document?: Document }).document ?? {};
      if (hidden || performance.now() - begun > 1.5 * this.silentMs) this.awaitMessage();
      else {
        const event = { message: silentWorker } as ErrorEvent;
        if (!this.startRenewed() && !this.startLast(event)) this.onerror?.(event);
      }
    }, this.silentMs);
  }

  /** Whether the worker reported that it is the wrong one and was replaced. */
  private isRenewed(message: FromWorker): boolean {
    if (message.type !== "started" || message.release === release) return false;
    return this.startRenewed() || this.startLast({ message: "" } as ErrorEvent);
  }

  private startRenewed(): boolean {
    const { renew, unheard } = this;
    if (!renew || !unheard) return false;
    this.renew = undefined;
    this.ways.splice(0, this.ways.length, renew);
    return this.restart(unheard);
  }

  /** Whether the worker that fired `event` was replaced. */
  private replace(event: ErrorEvent): boolean {
    const { unheard } = this;
    // A worker that ran reports its error. One that the browser did not load reports none.
    const isMissing = !event.message || event.message.includes(notImported);
    if (unheard && !event.message && this.ways.length > 0) return this.restart(unheard);
    return this.startRenewed() || (isMissing && this.startLast(event));
  }

  /** Whether the last worker is being created. If that fails, `event` is the reason of the others. */
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
