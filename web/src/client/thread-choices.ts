// Remembers, on this device, how many threads were measured to be fastest.
import { threadLimit, type ThreadChoice, type ThreadChoices } from "../shared/protocol.js";

const storageKey = "gpt2-wasm:threads";

/** Empty where the page may not store anything, or something else lies there. */
export function readThreadChoices(): ThreadChoices {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "{}");
    if (typeof stored !== "object" || stored === null) return {};
    const isCount = (value: unknown) =>
      Number.isInteger(value) && Number(value) >= 1 && Number(value) <= threadLimit;
    return Object.fromEntries(Object.entries(stored).filter(([, value]) => isCount(value)));
  } catch {
    return {};
  }
}

export function rememberThreads({ key, threads }: ThreadChoice): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify({ ...readThreadChoices(), [key]: threads }));
  } catch {
    // Private windows and full storage: it is measured again next time.
  }
}
