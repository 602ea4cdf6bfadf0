// The events of the elements. All bubble, also out of shadow trees.
import type { GenerateSummary, LoadProgress, Token } from "../client/index.js";

/** The detail of `gpt2-done`. */
export interface Gpt2Done {
  /** The text that was written, without the prompt. */
  text: string;
  /** Facts about the generation; null if it was stopped before its end. */
  summary: GenerateSummary | null;
}

/** The detail of `gpt2-error`. */
export interface Gpt2Failure {
  /** A `Gpt2Error`, with a `code`. */
  error: unknown;
}

/** The detail of `gpt2-accept`. */
export interface Gpt2Accept {
  /** The inserted text. */
  text: string;
}

/** The events of the elements. All bubble and are composed. */
export interface Gpt2EventMap {
  /** The model is being loaded. */
  "gpt2-progress": CustomEvent<LoadProgress>;
  /** A token was written. */
  "gpt2-token": CustomEvent<Token>;
  /** The writer's text is finished or was stopped, or the autocomplete shows a suggestion. */
  "gpt2-done": CustomEvent<Gpt2Done>;
  /** The model could not be loaded, or failed. */
  "gpt2-error": CustomEvent<Gpt2Failure>;
  /** The user took a suggestion, or a word of it. */
  "gpt2-accept": CustomEvent<Gpt2Accept>;
}

declare global {
  interface HTMLElementEventMap extends Gpt2EventMap {}
}

/** Returns whether the default was not prevented. */
export function emit<K extends keyof Gpt2EventMap>(
  target: HTMLElement,
  type: K,
  detail: Gpt2EventMap[K]["detail"],
): boolean {
  return target.dispatchEvent(
    new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: type === "gpt2-error" }),
  );
}
