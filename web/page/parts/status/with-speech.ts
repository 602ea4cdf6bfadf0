// Loads the page's speech when there is something to say, so that the first paint does without it.
import type { Speech } from "./speech.js";

/** Speech that is loaded on first use. If speech.ts cannot be loaded, nothing is said. */
export class LateSpeech {
  private readonly spoken: HTMLElement;
  private speech: Speech | undefined;

  /** Announces in the live region `spoken`. */
  constructor(spoken: HTMLElement) {
    this.spoken = spoken;
  }

  /** Calls `use` with the speech, in the order of the calls. */
  private with(use: (speech: Speech) => void): void {
    import("./speech.js").then(
      ({ speechIn }) => use((this.speech ??= speechIn(this.spoken))),
      () => undefined,
    );
  }

  readonly add = (text: string): void => this.with((speech) => speech.add(text));
  readonly finish = (): void => this.with((speech) => speech.finish());
  readonly hush = (): void => this.with((speech) => speech.hush());
  readonly status = (text: string): void => this.with((speech) => speech.status(text));
  readonly notice = (text: string): void => this.with((speech) => speech.notice(text));
}
