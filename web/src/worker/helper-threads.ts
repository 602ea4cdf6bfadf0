// The engine's helper threads. Emscripten makes each in a worker of its own, and lets a failure of one end all.
// Here it costs a thread: loops of the engine are shared by the threads that run.
import { trustedScriptUrl } from "../shared/script-address.js";
import type { Engine } from "./engine.js";

/** A global scope in which Emscripten makes workers. */
export interface WorkerScope {
  Worker: typeof Worker;
}

/** In place of a worker that cannot be made: a thread that never starts. */
const deadWorker = () => ({ postMessage() {}, terminate() {} });

/** The threads' workers that Emscripten makes from now on. */
export interface WatchedWorkers {
  /** What they are started from. Emscripten's script asks for itself by a name that a bundler may have changed. */
  startFrom: (script: string) => void;
}

/** Calls `onFailure` for each worker that is made in `scope` from now on and fails, or cannot be made. */
export function watchWorkers(scope: WorkerScope, onFailure: () => void): WatchedWorkers {
  let threadScript: string | undefined;
  scope.Worker = new Proxy(scope.Worker, {
    construct(makeWorker, [script, options]: [string | URL, WorkerOptions?]) {
      try {
        const worker = new makeWorker(trustedScriptUrl(threadScript ?? String(script)), options);
        let hasFailed = false;
        worker.addEventListener("error", (event) => {
          event.preventDefault();
          event.stopImmediatePropagation(); // Emscripten's own handler throws
          if (!hasFailed) onFailure();
          hasFailed = true;
        });
        return worker;
      } catch {
        onFailure();
        return deadWorker();
      }
    },
  });
  return { startFrom: (script) => void (threadScript = script) };
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
