// Compares the speed of the threads with the stored one. After a large change, the best number of threads is measured again.
import type { ThreadChoice } from "../shared/protocol.js";
import type { GenerateSummary } from "../shared/types.js";

/** From this number of steps on, the speed of a generation counts. */
const leastSteps = 32;
/** Other work on a device sometimes halves its speed, which is not a change of the device. */
const farRatio = 2.5;

/** The speed to store after a generation with the `known` threads; undefined: nothing new. */
export function speedToRemember(
  known: ThreadChoice,
  { finishReasons, timings: { decodedTokens, acceptedTokens, decodedTokensPerSecond } }: GenerateSummary,
  weightBytes: number,
): ThreadChoice | undefined {
  const steps = decodedTokens - acceptedTokens; // accepted drafts share one step
  if (finishReasons.length > 1 || steps < leastSteps) return undefined;
  const speed = Math.round((decodedTokensPerSecond * steps * weightBytes) / decodedTokens);
  if (known.speed === undefined) return { ...known, speed };
  const ratio = speed / known.speed;
  return Math.max(ratio, 1 / ratio) > farRatio ? { key: known.key, threads: 0 } : undefined;
}
