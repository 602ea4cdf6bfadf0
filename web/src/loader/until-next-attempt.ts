// Waits for the network.
import { unlessAborted } from "../shared/unless-aborted.js";

/** In milliseconds. A browser may wrongly report that there is no network, so another attempt is made after this. */
const longestWaitMs = 5000;

/** Resolves when it is time for another attempt; rejects once `signal` is aborted. */
export async function untilNextAttempt(signal: AbortSignal): Promise<void> {
  let wake: () => void = () => {};
  const woken = new Promise<void>((resolve) => (wake = resolve));
  const timer = setTimeout(wake, longestWaitMs);
  addEventListener("online", wake);
  try {
    await unlessAborted(woken, signal);
  } finally {
    clearTimeout(timer);
    removeEventListener("online", wake);
  }
}
