// Tokens that wait for the loop that reads them.
import type { Token } from "../shared/types.js";

/** A queue for one reader. */
export class TokenQueue {
  private readonly tokens: Token[] = [];
  private unreported = 0;
  private end: { error: unknown } | "done" | undefined;
  private wake: (() => void) | undefined;

  /** Called after every `batch` tokens that were read. */
  private readonly onRead: (tokens: number) => void;
  private readonly batch: number;

  constructor(onRead: (tokens: number) => void, batch: number) {
    this.onRead = onRead;
    this.batch = batch;
  }

  push(token: Token): void {
    this.tokens.push(token);
    this.wake?.();
  }

  /** No more tokens will arrive; those in the queue can still be read. */
  finish(): void {
    this.end = "done";
    this.wake?.();
  }

  /** As finish, but the reader then gets `error`. */
  fail(error: unknown): void {
    this.end = { error };
    this.wake?.();
  }

  /** The next token; undefined after the last. */
  async next(): Promise<Token | undefined> {
    for (;;) {
      const token = this.tokens.shift();
      if (token) {
        this.unreported += 1;
        if (this.unreported === this.batch) {
          this.unreported = 0;
          this.onRead(this.batch);
        }
        return token;
      }
      if (this.end === "done") return undefined;
      if (this.end) throw this.end.error;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}
