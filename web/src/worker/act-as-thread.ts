// What a worker does that HelperThreads has made.
import type { ThreadStart } from "../shared/wasm-instance.js";
import { runThread, threadName } from "../shared/wasm-module.js";

declare const self: DedicatedWorkerGlobalScope;

/** Runs a helper thread, if this worker is to be one; returns whether it is. */
export function actAsThread(): boolean {
  if (self.name !== threadName) return false;
  // It does not close itself: Chromium keeps both for good where a worker does so while its parent closes. It ends with that.
  self.onmessage = ({ data }: MessageEvent<ThreadStart>) => runThread(data);
  return true;
}
