// The text outlives a reload of the page, whoever asks for it, and so does what can be undone.
import type { KeptText } from "./editor/editor.js";
import { parseKept } from "./editor/parse-kept.js";
import { currentEditor, keptText, restoreText } from "./editor/surface.js";
import { isRepeated } from "./visit.js";

/** Of this page alone: others of the same host share the storage. */
const key = `gpt2-text ${location.pathname}`;

/** What this page had when it was left, where it is not opened anew but loaded once more. */
function readKept(): KeptText | undefined {
  if (!isRepeated()) return undefined;
  try {
    return parseKept(JSON.parse(sessionStorage.getItem(key) ?? "null"));
  } catch {
    return undefined; // there is no storage, as in a sandboxed frame
  }
}

/** Tells whether there was room. */
function store(kept: KeptText): boolean {
  try {
    sessionStorage.setItem(key, JSON.stringify(kept));
    return true;
  } catch {
    return false; // there is none, or too little: some megabytes
  }
}

/** Brings back what stood here before the page was loaded once more, and keeps what will. */
export function keepText(): void {
  const kept = readKept();
  if (kept) restoreText(kept);
  addEventListener("pagehide", () => {
    const editor = currentEditor();
    if (!editor || !store(editor.keptWithHistory)) store(keptText());
  });
}
