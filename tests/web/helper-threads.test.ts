import { describe, expect, it, vi } from "vitest";
import {
  gatherThreads,
  threadNotice,
  watchWorkers,
  type WorkerScope,
} from "../../web/src/worker/helper-threads.js";

class NativeWorker extends EventTarget {
  readonly script: string;
  readonly options: WorkerOptions;

  constructor(script: string, options: WorkerOptions) {
    super();
    this.script = script;
    this.options = options;

    if (script === "refused") throw new DOMException("Content Security Policy", "SecurityError");
  }
}

function watch(): {
  scope: { Worker: new (script: string, options?: object) => NativeWorker };
  failures: () => number;
  startFrom: (script: string) => void;
} {
  const scope = { Worker: NativeWorker };
  let failures = 0;
  const { startFrom } = watchWorkers(scope as unknown as WorkerScope, () => (failures += 1));
  return { scope: scope as never, failures: () => failures, startFrom };
}

describe("watchWorkers", () => {
  it("watchWorkers makes workers as before", () => {
    const { scope, failures } = watch();
    const worker = new scope.Worker("s.mjs", { type: "module" });
    expect(worker).toBeInstanceOf(NativeWorker);
    expect(worker.script).toBe("s.mjs");
    expect(worker.options).toEqual({ type: "module" });
    expect(failures()).toBe(0);
  });

  it("watchWorkers makes them from the script that it was given, whatever was asked for", () => {
    const { scope, startFrom } = watch();
    startFrom("engine-1a2b.js");
    expect(new scope.Worker("s.mjs").script).toBe("engine-1a2b.js");
  });

  it("watchWorkers counts one that fails, and lets nobody else hear of it", () => {
    const { scope, failures } = watch();
    const worker = new scope.Worker("s.mjs");
    const other = vi.fn();
    worker.addEventListener("error", other); // Emscripten's, which throws
    const event = new Event("error", { cancelable: true });
    worker.dispatchEvent(event);
    expect(failures()).toBe(1);
    expect(other).not.toHaveBeenCalled();
    expect(event.defaultPrevented).toBe(true);
    worker.dispatchEvent(new Event("error", { cancelable: true }));
    expect(failures()).toBe(1); // it was lost already
    expect(other).not.toHaveBeenCalled();
  });

  it("watchWorkers counts one that cannot be made, and gives one that does nothing", () => {
    const { scope, failures } = watch();
    const worker = new scope.Worker("refused") as unknown as Worker;
    expect(failures()).toBe(1);
    expect(worker.postMessage("load")).toBeUndefined();
    expect(worker.terminate()).toBeUndefined();
  });
});

describe("gatherThreads", () => {
  const { signal } = new AbortController();
  /** Threads that run after each look. */
  function engineWith(counts: number[]) {
    let looks = 0;
    return {
      dropped: 0,
      get startedThreads() {
        return counts[Math.min(looks++, counts.length - 1)] ?? 0;
      },
      dropUnstartedThreads() {
        this.dropped += 1;
      },
    };
  }

  it("gatherThreads waits for all of them", async () => {
    const engine = engineWith([1, 2, 2, 4]);
    expect(await gatherThreads(engine, 4, () => 0, signal)).toBe(4);
    expect(engine.dropped).toBe(1);
  });

  it("gatherThreads does not wait for one that failed", async () => {
    expect(await gatherThreads(engineWith([1, 3]), 4, () => 1, signal)).toBe(3);
  });

  it("gatherThreads does not wait for the only one", async () => {
    const start = performance.now();
    expect(await gatherThreads(engineWith([1]), 1, () => 0, signal)).toBe(1);
    expect(performance.now() - start).toBeLessThan(1000);
  });

  it("gatherThreads waits two seconds at most", async () => {
    vi.useFakeTimers();
    const engine = engineWith([2]);
    let threads: number | undefined;
    void gatherThreads(engine, 4, () => 0, signal).then((count) => (threads = count));
    await vi.advanceTimersByTimeAsync(1990);
    expect(threads).toBeUndefined();
    await vi.advanceTimersByTimeAsync(20);
    expect(threads).toBe(2);
    vi.useRealTimers();
  });

  it("gatherThreads can be aborted", async () => {
    const controller = new AbortController();
    const waiting = gatherThreads(engineWith([1]), 2, () => 0, controller.signal);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });
});

it.each([
  [4, 4, null],
  [1, 1, null],
  [3, 4, "Running on 3 of 4 threads: a helper thread could not be started, or failed."],
  [1, 4, "Running on 1 of 4 threads: helper threads could not be started, or failed."],
])("the thread notice for %i of %i threads is: %s", (threads, wanted, notice) => {
  expect(threadNotice(threads, wanted)).toBe(notice);
});
