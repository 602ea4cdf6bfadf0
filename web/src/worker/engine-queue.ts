// Requests use the engine one at a time, in the order of their calls.

export class EngineQueue {
  private isTaken = false;
  private readonly waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn; `give` ends the turn. An abort before that rejects, and leaves the queue. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.isTaken) {
      this.isTaken = true;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        this.waiting.splice(this.waiting.indexOf(next), 1);
        reject(signal.reason);
      };
      const next = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      this.waiting.push(next);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  give(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.isTaken = false;
  }
}

/** The turn of one request: waiting, held or given back. */
export class EngineTurn {
  private isHeld = false;
  /** Whether the request waits in the queue. */
  isWaiting = false;

  private readonly queue: EngineQueue;

  constructor(queue: EngineQueue) {
    this.queue = queue;
  }

  async take(signal: AbortSignal): Promise<void> {
    this.isWaiting = true;
    try {
      await this.queue.take(signal);
    } finally {
      this.isWaiting = false;
    }
    this.isHeld = true;
  }

  /** Ends the turn; does nothing if it is not held. */
  give(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.queue.give();
  }

  /** Lets other requests run until `ready` resolves, and then waits for the next turn. */
  async giveUntil(ready: Promise<void>, signal: AbortSignal): Promise<void> {
    this.give();
    await ready;
    await this.take(signal);
  }
}
