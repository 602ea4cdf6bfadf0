// The engine's helper threads, each in a worker of its own. A failure of one costs that thread alone: loops of the engine are
// shared by the threads that run.
import { trustedScriptUrl } from "../shared/script-address.js";
import type { ThreadStart } from "../shared/wasm-instance.js";
import { threadName } from "../shared/wasm-module.js";
import type { Engine } from "./engine.js";

/** A global scope with workers. */
export interface WorkerScope {
  Worker: typeof Worker;
}

export class HelperThreads {
  private readonly scope: WorkerScope;
  private readonly onFailure: () => void;
  /** A browser may end workers that nobody can reach. */
  private readonly workers: Worker[] = [];

  /** Calls `onFailure` for each thread that fails, or cannot be made. */
  constructor(scope: WorkerScope, onFailure: () => void) {
    this.scope = scope;
    this.onFailure = onFailure;
  }

  /** Starts one from `script`, that of a build. */
  readonly start = (script: string, start: ThreadStart): void => {
    try {
      const worker = new this.scope.Worker(trustedScriptUrl(script), { type: "module", name: threadName });
      let hasFailed = false;
      worker.addEventListener("error", (event) => {
        event.preventDefault(); // else it is an error of this worker
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
/** Threads start while the weights stream in; any that is not there long after is not waited for. */
const mostWaitMs = 2000;

/** Waits until `threads` threads run, or all that did not fail do; continues with those. Returns how many. */
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

/** What to tell the user when there are fewer threads than there should be. */
export function threadNotice(threads: number, wanted: number): string | null {
  if (threads >= wanted) return null;
  const others = wanted - threads === 1 ? "a helper thread" : "helper threads";
  return `Running on ${threads} of ${wanted} threads: ${others} could not be started, or failed.`;
}
