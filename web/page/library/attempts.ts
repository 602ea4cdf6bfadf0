// Attempts to store texts. A text that cannot be stored is tried again, also when the tab shows another one by then.
import type { StoredVersion } from "./store.js";

export interface Attempt {
  /** The text's id. */
  readonly id: string;
  readonly next: StoredVersion;
  /** The last version that this tab knows to be stored; 0: none. */
  readonly base: () => number;
  /** Called when `next` is stored. */
  readonly stored: () => void;
}

export interface AttemptsSetting {
  put: (id: string, next: StoredVersion) => Promise<void>;
  /** Stores the text `id` soon if the tab shows it. Returns whether it does. */
  putShown: (id: string) => boolean;
  /** Claims a text for this tab; undefined if that fails. */
  claim: (id: string) => Promise<(() => void) | undefined>;
  /** The stored versions, the newest first. */
  versions: (id: string) => Promise<(StoredVersion | undefined)[]>;
  /** Shows why a text is not stored. */
  showFailure: (error: unknown) => void;
  /** Called when no text waits to be stored. */
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

  /** The attempts for texts that are not stored. */
  get waiting(): Attempt[] {
    return [...this.failed.values()];
  }

  /** Stores a version; rejects if that fails, and tries again later. */
  async put(attempt: Attempt): Promise<void> {
    const { failed, setting } = this;
    const { id, next, stored } = attempt;
    try {
      await setting.put(id, next);
    } catch (error) {
      failed.set(id, attempt);
      setting.showFailure(error);
      this.repeatLater(attempt);
      throw error;
    }
    failed.delete(id);
    stored();
    if (failed.size === 0) setting.showStored();
  }

  private isLast(attempt: Attempt): boolean {
    return this.failed.get(attempt.id) === attempt;
  }

  private repeatLater(attempt: Attempt): void {
    setTimeout(() => {
      if (this.isLast(attempt) && !this.setting.putShown(attempt.id)) void this.repeat(attempt);
    }, pauseMs);
  }

  /** Repeats an attempt for a text that the tab no longer shows, unless another tab has changed or deleted the text. */
  private async repeat(attempt: Attempt): Promise<void> {
    const { id } = attempt;
    const release = await this.setting.claim(id);
    const versions = await this.setting.versions(id).catch(() => undefined);
    if (this.isLast(attempt)) {
      const base = attempt.base();
      const isDeleted = base > 0 && versions?.length === 0;
      if (isDeleted || (versions?.[0]?.version ?? 0) > base) this.giveUp(id);
      else if (release && versions) await this.put(attempt).catch(() => undefined);
      else this.repeatLater(attempt);
    }
    release?.();
  }

  /** Gives up a text that is deleted, or that another tab may have now. Returns whether it was not stored. */
  giveUp(id: string): boolean {
    const wasWaiting = this.failed.delete(id);
    if (wasWaiting && this.failed.size === 0) this.setting.showStored();
    return wasWaiting;
  }
}
