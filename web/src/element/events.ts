// The events of the elements: all bubble and leave shadow trees.
import type { GenerateSummary, LoadProgress, Token } from "../client/index.js";

export interface Gpt2Done {
  /** What was written, without what it was written on from. */
  text: string;
  /** null where it was stopped before its end. */
  summary: GenerateSummary | null;
}

export interface Gpt2Failure {
  /** A Gpt2Error, with a `code`. */
  error: unknown;
}

export interface Gpt2Accept {
  /** What of a suggestion was taken. */
  text: string;
}

export interface Gpt2EventMap {
  "gpt2-progress": CustomEvent<LoadProgress>;
  "gpt2-token": CustomEvent<Token>;
  "gpt2-done": CustomEvent<Gpt2Done>;
  "gpt2-error": CustomEvent<Gpt2Failure>;
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
