// Stores the measured number of threads on this device.
import type { ThreadChoice, ThreadChoices } from "../shared/protocol.js";

const storageKey = "gpt2-wasm:threads";

/** Empty if the page may not use storage, the entry is invalid, or another version of the browser measured it. */
export function readThreadChoices(): ThreadChoices {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? "{}") as Record<string, unknown>;
    if (stored.browser !== navigator.userAgent) return {};
    const isKnown = (value: unknown) => {
      const { threads, speed = 1 } = Object(value) as Partial<Record<keyof ThreadChoice, unknown>>;
      // The worker checks the upper limit.
      return Number.isInteger(threads) && Number(threads) > 0 && typeof speed === "number" && speed > 0;
    };
    return Object.fromEntries(Object.entries(stored).filter(([, value]) => isKnown(value))) as ThreadChoices;
  } catch {
    return {};
  }
}

export function rememberThreads({ key, ...measured }: ThreadChoice): void {
  try {
    const { userAgent: browser } = navigator;
    localStorage.setItem(storageKey, JSON.stringify({ ...readThreadChoices(), browser, [key]: measured })); // an entry without threads is not read back
  } catch {
    // In private windows and with full storage, it is measured again next time.
  }
}
