// Limits how many tokens a generation writes ahead of its reader.
import { unlessAborted } from "../shared/unless-aborted.js";

export class ReadAhead {
  private wake: (() => void) | undefined;

  private left: number;

  constructor(left: number) {
    this.left = left;
  }

  get isSpent(): boolean {
    return this.left <= 0;
  }

  spend(tokens: number): void {
    this.left -= tokens;
  }

  add(tokens: number): void {
    this.left += tokens;
    if (!this.isSpent) this.wake?.();
  }

  /** Resolves when more tokens may be written; rejects when aborted. For one caller at a time. */
  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.isSpent) return;
    await unlessAborted(new Promise<void>((resolve) => (this.wake = resolve)), signal);
  }
}
