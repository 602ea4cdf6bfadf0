// The engine's helper threads, each in its own worker. A failure costs only that thread: the remaining threads share the
// engine's loops.
import { trustedScriptUrl } from "../shared/script-address.js";
import type { ThreadStart } from "../model/wasm-instance.js";
import { threadName } from "../model/wasm-module.js";
import type { Engine } from "./engine.js";

/** A global scope that supports workers. */
export interface WorkerScope {
  Worker: typeof Worker;
}

export class HelperThreads {
  private readonly scope: WorkerScope;
  private readonly onFailure: () => void;
  /** Referenced here, because a browser may end unreachable workers. */
  private readonly workers: Worker[] = [];

  /** Calls `onFailure` for each thread that fails or cannot be created. */
  constructor(scope: WorkerScope, onFailure: () => void) {
    this.scope = scope;
    this.onFailure = onFailure;
  }

  /** Starts a thread from `script`, that of a build. */
  readonly start = (script: string, start: ThreadStart): void => {
    try {
      const worker = new this.scope.Worker(trustedScriptUrl(script), { type: "module", name: threadName });
      let hasFailed = false;
      worker.addEventListener("error", (event) => {
        event.preventDefault(); // otherwise it counts as an error of this worker
        if (!hasFailed) this.onFailure();
        hasFailed = true;
      });
      worker.postMessage(start);
      this.workers.push(worker);
    } catch {
      this.onFailure();
    }
  };
}

const pollMs = 5;
/** Threads start while the weights stream. The load waits at most this long for missing ones. */
const mostWaitMs = 2000;

/** Waits until `threads` threads run, or all that have not failed, and continues with those. Returns their number. */
export async function gatherThreads(
  engine: Pick<Engine, "startedThreads" | "dropUnstartedThreads">,
  threads: number,
  failures: () => number,
  signal: AbortSignal,
): Promise<number> {
  const until = performance.now() + mostWaitMs;
  while (engine.startedThreads + failures() < threads && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    signal.throwIfAborted();
  }
  engine.dropUnstartedThreads();
  return engine.startedThreads;
}

/** The notice to the user if there are fewer threads than intended. */
export function threadNotice(threads: number, wanted: number): string | null {
  if (threads >= wanted) return null;
  const others = wanted - threads === 1 ? "a helper thread" : "helper threads";
  return `Running on ${threads} of ${wanted} threads: ${others} could not be started, or failed.`;
}
