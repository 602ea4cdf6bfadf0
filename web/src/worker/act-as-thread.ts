// The code of a worker that HelperThreads has created.
import type { ThreadStart } from "../model/wasm-instance.js";
import { runThread, threadName } from "../model/wasm-module.js";

declare const self: DedicatedWorkerGlobalScope;

/** Within this time after its engine has ended, the page terminates the thread's parent. */
const lingerMs = 1000;

/**
 * Runs a helper thread if this worker is one; returns whether it is. The thread ends with its parent. In Chromium, a
 * parent whose helper ends at the same moment misses that, and neither is ever freed. So a helper does not close
 * itself, and stays busy until its parent has ended.
 */
export function actAsThread(): boolean {
  if (self.name !== threadName) return false;
  self.onmessage = ({ data }: MessageEvent<ThreadStart>) => {
    runThread(data);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lingerMs);
  };
  return true;
}
