// The code of a worker that HelperThreads has created.
import type { ThreadStart } from "../shared/wasm-instance.js";
import { runThread, threadName } from "../shared/wasm-module.js";

declare const self: DedicatedWorkerGlobalScope;

/** Runs a helper thread if this worker is one; returns whether it is. */
export function actAsThread(): boolean {
  if (self.name !== threadName) return false;
  // The thread ends with its parent and does not close itself. In Chromium, a worker that closes while its parent closes is
  // never freed, nor is the parent.
  self.onmessage = ({ data }: MessageEvent<ThreadStart>) => runThread(data);
  return true;
}
