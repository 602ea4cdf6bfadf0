// How many tokens a generation may still write before its reader has read some.
import { unlessAborted } from "../shared/unless-aborted.js";

export class Credit {
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

  /** Resolves once there is credit again; rejects when it is aborted. For one caller at a time. */
  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.isSpent) return;
    await unlessAborted(new Promise<void>((resolve) => (this.wake = resolve)), signal);
  }
}
