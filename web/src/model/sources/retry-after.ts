// How long to wait before a host is asked again: as long as it says, or until the network is back.
import { unlessAborted } from "../../shared/unless-aborted.js";

/** In milliseconds; undefined if the host does not say. A date is relative to the host's own clock. */
export function retryAfter({ headers }: Response): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

/** Advice for answers without their own. */
const usualAdvice: Readonly<Record<number, string>> = {
  401: "set the option headers or credentials",
  429: "try again later",
};

const units = [
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** Advice for an error response, as the end of a sentence; "" if there is none. */
export function adviceOn(response: Response): string {
  const seconds = (retryAfter(response) ?? 0) / 1000;
  if (seconds === 0) {
    const usual = usualAdvice[response.status];
    return usual === undefined ? "" : `: ${usual}`;
  }
  const [name, size] = units.find((unit) => seconds >= 2 * unit[1]) ?? units[2];
  const count = Math.ceil(seconds / size);
  return `: try again in ${count} ${name}${count === 1 ? "" : "s"}`;
}

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
