// Describes what a model is expected to need on this device.
import { formatBytes, formatNumber } from "../language/numbers.js";
import { phrase } from "../language/models.js";
import type { PageState } from "../state/page-state.js";
import { memoryOf, rateOf, roundToTwoDigits } from "./estimate.js";
import { readingSpeed } from "./reading-speed.js";

/** The expected speed of a model with these weights; undefined if it cannot be measured here. */
export async function expectedRate(
  state: PageState,
  weightBytes: number,
): Promise<(() => string) | undefined> {
  const speed = await readingSpeed(state);
  if (speed === undefined) return undefined;
  const perSecond = roundToTwoDigits(rateOf(weightBytes, speed));
  return () => phrase("rate", { value: formatNumber(perSecond, perSecond < 10 ? 1 : 0) });
}

/** For weights of this size in memory, in the page's language at the time of the call. */
export async function expectationOf(state: PageState, weightBytes: number): Promise<() => string> {
  const bytes = roundToTwoDigits(memoryOf(weightBytes));
  const memory = () => phrase("expectedMemory", { memory: formatBytes(bytes) });
  const rate = await expectedRate(state, weightBytes);
  return rate ? () => `${memory()} ${phrase("expectedRate", { rate: rate() })}` : memory;
}
