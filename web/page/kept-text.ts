// The text outlives a reload of the page, whoever asks for it.
import { elements as ui } from "./elements.js";
import type { OutputView } from "./output.js";

interface KeptText {
  /** What stands in the field. */
  field: string;
  /** What the model was given, and what it wrote after it. */
  prompt: string;
  written: string;
}

/** Of this page alone: others of the same host share the storage. */
const key = `gpt2-text ${location.pathname}`;

/** What this page had when it was left, where it is not opened anew but loaded once more. */
function readKept(): KeptText | undefined {
  const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (visit?.type !== "reload" && visit?.type !== "back_forward") return undefined;
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null") as KeptText | undefined;
  } catch {
    return undefined; // there is no storage, as in a sandboxed frame
  }
}

/** Brings back what stood here before the page was loaded once more, and keeps what will. */
export function keepText(output: OutputView): void {
  const kept = readKept();
  if (kept) {
    ui.prompt.value = kept.field;
    output.begin(kept.prompt);
    output.append(kept.written);
  }
  addEventListener("pagehide", () => {
    const { prompt, written } = output;
    const text: KeptText = { field: ui.prompt.value, prompt, written };
    try {
      if (output.text === "") sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, JSON.stringify(text));
    } catch {
      // There is none, or too little: some megabytes.
    }
  });
}
