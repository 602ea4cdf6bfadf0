// Tokens that wait for whoever iterates over them.
import type { Token } from "../shared/types.js";

export class TokenQueue implements AsyncIterable<Token> {
  private readonly tokens: Token[] = [];
  private isEnded = false;
  private wake: (() => void) | undefined;

  push(token: Token): void {
    this.tokens.push(token);
    this.wake?.();
  }

  /** No more will come; those that wait are still given. */
  end(): void {
    this.isEnded = true;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Token, void, void> {
    for (;;) {
      const token = this.tokens.shift();
      if (token) {
        yield token;
      } else if (this.isEnded) {
        return;
      } else {
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    }
  }
}
