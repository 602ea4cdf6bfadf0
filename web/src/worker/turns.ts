// Who may use the engine: one at a time, in the order in which they asked.

export class Turns {
  private isTaken = false;
  private readonly waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn, which `give` ends. Rejects if it is aborted before; it is then no longer in the queue. */
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

/** One caller's turn, had or not. */
export class Turn {
  private isHeld = false;
  /** Whether it has asked for its turn and has not got it yet. */
  isWaiting = false;

  private readonly turns: Turns;

  constructor(turns: Turns) {
    this.turns = turns;
  }

  async take(signal: AbortSignal): Promise<void> {
    this.isWaiting = true;
    try {
      await this.turns.take(signal);
    } finally {
      this.isWaiting = false;
    }
    this.isHeld = true;
  }

  /** Does nothing where there is nothing to give. */
  give(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.turns.give();
  }

  /** Lets others go first, until `ready` resolves and it is this one's turn again. */
  async giveUntil(ready: Promise<void>, signal: AbortSignal): Promise<void> {
    this.give();
    await ready;
    await this.take(signal);
  }
}
