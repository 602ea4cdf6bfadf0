// What a model is expected to take on this device, in words.
import { formatBytes, formatNumber } from "../language/numbers.js";
import { phrase } from "../language/models.js";
import { phrase as phraseOfStart } from "../language/start.js";
import type { PageState } from "../state/page-state.js";
import { memoryOf, rateOf, roundToTwoDigits } from "./estimate.js";
import { readingSpeed } from "./reading-speed.js";

/** How fast a model with so many bytes of weights would write here; undefined where this device cannot tell. */
export async function expectedRate(
  state: PageState,
  weightBytes: number,
): Promise<(() => string) | undefined> {
  const speed = await readingSpeed(state);
  if (speed === undefined) return undefined;
  const perSecond = roundToTwoDigits(rateOf(weightBytes, speed));
  return () => phraseOfStart("rate", { value: formatNumber(perSecond, perSecond < 10 ? 1 : 0) });
}

/** Of so many bytes of weights in memory, in the page's language when it is called for. */
export async function expectationOf(state: PageState, weightBytes: number): Promise<() => string> {
  const bytes = roundToTwoDigits(memoryOf(weightBytes));
  const memory = () => phrase("expectedMemory", { memory: formatBytes(bytes) });
  const rate = await expectedRate(state, weightBytes);
  return rate ? () => `${memory()} ${phrase("expectedRate", { rate: rate() })}` : memory;
}
