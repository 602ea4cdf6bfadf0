// Remembers, on this device, how many threads were measured to be fastest.
import type { ThreadChoice, ThreadChoices } from "../shared/protocol.js";

const storageKey = "gpt2-wasm:threads";

/** Empty where the page may not store anything, something else lies there, or another version of the browser measured. */
export function readThreadChoices(): ThreadChoices {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? "{}") as Record<string, unknown>;
    if (stored.browser !== navigator.userAgent) return {};
    const isCount = (value: unknown) => Number.isInteger(value) && Number(value) > 0; // the worker knows how many are too many
    return Object.fromEntries(Object.entries(stored).filter(([, value]) => isCount(value))) as ThreadChoices;
  } catch {
    return {};
  }
}

export function rememberThreads({ key, threads }: ThreadChoice): void {
  try {
    const { userAgent: browser } = navigator;
    localStorage.setItem(storageKey, JSON.stringify({ ...readThreadChoices(), browser, [key]: threads }));
  } catch {
    // Private windows and full storage: it is measured again next time.
  }
}
