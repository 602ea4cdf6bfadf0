// What a model is expected to take on this device, in words.
import { formatBytes, formatNumber } from "../language/numbers.js";
import { phrase } from "../language/models.js";
import { phrase as phraseOfStart } from "../language/start.js";
import type { PageState } from "../state/page-state.js";
import { memoryOf, rateOf, roundToTwoDigits } from "./estimate.js";
import { readingSpeed } from "./reading-speed.js";

/** Of so many bytes of weights in memory, in the page's language when it is called for. */
export async function expectationOf(state: PageState, weightBytes: number): Promise<() => string> {
  const bytes = roundToTwoDigits(memoryOf(weightBytes));
  const memory = () => phrase("expectedMemory", { memory: formatBytes(bytes) });
  const speed = await readingSpeed(state);
  if (speed === undefined) return memory;
  const perSecond = roundToTwoDigits(rateOf(weightBytes, speed));
  return () => {
    const rate = phraseOfStart("rate", { value: formatNumber(perSecond, perSecond < 10 ? 1 : 0) });
    return `${memory()} ${phrase("expectedRate", { rate })}`;
  };
}
