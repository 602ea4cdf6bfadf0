// The text outlives a reload of the page, whoever asks for it, and so do what can be undone, the branches and the options.
import type { GenerateOptions } from "../src/client/index.js";
import { parseKept } from "./editor/parse-kept.js";
import { currentEditor, keptText, restoreText } from "./editor/surface.js";
import { options } from "./options.js";
import { isRepeated } from "./visit.js";
import { lastSeed, restoreSeed } from "./writing.js";

/** Of this page alone: others of the same host share the storage. */
const key = `gpt2-text ${location.pathname}`;

/** What this page had when it was left, where it is not opened anew but loaded once more. */
function readKept(): unknown {
  if (!isRepeated()) return undefined;
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null");
  } catch {
    return undefined; // there is no storage, as in a sandboxed frame
  }
}

/** Tells whether there was room. */
function store(kept: unknown): boolean {
  try {
    sessionStorage.setItem(key, JSON.stringify(kept));
    return true;
  } catch {
    return false; // there is none, or too little: some megabytes
  }
}

/** Keeps what is here now; with too little room first what can be undone is left out, then the branches. */
export function keepNow(): void {
  const all = {
    ...(currentEditor()?.keptWithHistory ?? keptText()),
    options: options.peek("own"),
    seed: lastSeed(),
  };
  const less = { ...all, history: undefined };
  [all, less, { ...less, tree: undefined }].some(store);
}

/** Brings back what stood here before the page was loaded once more, and keeps what will. */
export function keepText(): void {
  const value = readKept();
  const kept = parseKept(value);
  if (kept) restoreText(kept);
  const { options: own, seed } = Object(value) as { options?: GenerateOptions; seed?: unknown };
  options.show(own ?? {});
  if (typeof seed === "number") restoreSeed(seed);
  addEventListener("pagehide", keepNow);
}
