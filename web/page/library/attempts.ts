// Attempts to store texts. A text that cannot be stored is tried again, also when the tab shows another one by then.
import type { StoredVersion } from "./store.js";

export interface Attempt {
  /** The text's id. */
  readonly id: string;
  readonly next: StoredVersion;
  /** Called when `next` is stored. */
  readonly stored: () => void;
}

export interface AttemptsSetting {
  put: (id: string, next: StoredVersion) => Promise<void>;
  /** Calls `putAgain` unless the tab has a newer version, which it then stores instead. */
  repeat: (id: string, putAgain: () => void) => void;
  /** Shows why a text is not stored. */
  showFailure: (error: unknown) => void;
  /** Called when all texts are stored. */
  showStored: () => void;
}

/** The pause after a failed attempt. */
const pauseMs = 5000;

export class Attempts {
  private readonly setting: AttemptsSetting;
  /** The last attempt for each text that is not stored, by its id. */
  private readonly failed = new Map<string, Attempt>();

  constructor(setting: AttemptsSetting) {
    this.setting = setting;
  }

  /** Stores a version; rejects if that fails, and tries again later. */
  async put(attempt: Attempt): Promise<void> {
    const { failed, setting } = this;
    const { id, next, stored } = attempt;
    try {
      await setting.put(id, next);
    } catch (error) {
      setting.showFailure(error);
      failed.set(id, attempt);
      setTimeout(() => {
        if (failed.get(id) === attempt) this.repeat(attempt); // otherwise a later one was made
      }, pauseMs);
      throw error;
    }
    failed.delete(id);
    stored();
    if (failed.size === 0) setting.showStored();
  }

  private repeat(attempt: Attempt): void {
    this.setting.repeat(attempt.id, () => void this.put(attempt).catch(() => undefined));
  }

  /** Gives up a text, which another tab may have now. Returns whether it was not stored. */
  giveUp(id: string): boolean {
    return this.failed.delete(id);
  }
}
