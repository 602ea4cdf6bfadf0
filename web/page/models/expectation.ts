// What a model is expected to take on this device, in words.
import { formatBytes, formatNumber } from "../language/numbers.js";
import { phrase } from "../language/models.js";
import { phrase as phraseOfStart } from "../language/start.js";
import { memoryOf, rateOf, roughly, weightBytesOf } from "./estimate.js";
import { readingSpeed } from "./reading-speed.js";

/** Of a download of `bytes`; of `parameters` that become `weights` where they come as floats. */
export async function expectationOf(
  bytes: number,
  parameters?: number,
  weights: "q8" | "q4" = "q8",
): Promise<string> {
  const weightBytes = parameters === undefined ? bytes : weightBytesOf(parameters, weights);
  const memory = phrase("expectedMemory", { memory: formatBytes(roughly(memoryOf(weightBytes))) });
  const speed = await readingSpeed();
  if (speed === undefined) return memory;
  const perSecond = roughly(rateOf(weightBytes, speed));
  const rate = phraseOfStart("rate", { value: formatNumber(perSecond, perSecond < 10 ? 1 : 0) });
  return `${memory} ${phrase("expectedRate", { rate })}`;
}
