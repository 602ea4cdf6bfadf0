// Remembers, on this device, how many threads were measured to be fastest.
import type { ThreadChoice, ThreadChoices } from "../shared/protocol.js";

const storageKey = "gpt2-wasm:threads";

/** Empty where the page may not store anything, something else lies there, or another version of the browser measured. */
export function readThreadChoices(): ThreadChoices {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? "{}") as Record<string, unknown>;
    if (stored.browser !== navigator.userAgent) return {};
    const isKnown = (value: unknown) => {
      const { threads, speed = 1 } = Object(value) as Partial<Record<keyof ThreadChoice, unknown>>;
      // The worker knows how many are too many.
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
    localStorage.setItem(storageKey, JSON.stringify({ ...readThreadChoices(), browser, [key]: measured })); // without threads, it is not read back
  } catch {
    // Private windows and full storage: it is measured again next time.
  }
}
