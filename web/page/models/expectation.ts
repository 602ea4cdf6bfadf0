// Describes what a model is expected to need on this device.
import { formatBytes, formatNumber } from "../language/numbers.js";
import { phrase } from "../language/models.js";
import type { PageState } from "../state/page-state.js";
import { memoryOf, roundToTwoDigits } from "./estimate.js";

/** The expected speed of a model with these weights; undefined before the page has written a text. */
export function expectedRate(state: PageState, weightBytes: number): (() => string) | undefined {
  const speed = state.weightsPerSecond.peek();
  if (speed === undefined) return undefined;
  const perSecond = roundToTwoDigits(speed / weightBytes);
  return () => phrase("rate", { value: formatNumber(perSecond, perSecond < 10 ? 1 : 0) });
}

/** For weights of this size in memory, in the page's language at the time of the call. */
export function expectationOf(state: PageState, weightBytes: number): () => string {
  const bytes = roundToTwoDigits(memoryOf(weightBytes));
  const memory = () => phrase("expectedMemory", { memory: formatBytes(bytes) });
  const rate = expectedRate(state, weightBytes);
  return rate ? () => `${memory()} ${phrase("expectedRate", { rate: rate() })}` : memory;
}
