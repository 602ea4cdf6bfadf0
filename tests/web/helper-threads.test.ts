import { expect, it, vi } from "vitest";
import type { ThreadStart } from "../../web/src/model/wasm-instance.js";
import { gatherThreads, HelperThreads, type WorkerScope } from "../../web/src/worker/helper-threads.js";

const start = { stack: 64, stackBytes: 32, helper: 96 } as ThreadStart;

class NativeWorker extends EventTarget {
  static made: NativeWorker[] = [];
  readonly posted: unknown[] = [];
  readonly script: string;
  readonly options: WorkerOptions;

  constructor(script: string, options: WorkerOptions) {
    super();
    this.script = script;
    this.options = options;
    if (script === "refused") throw new DOMException("Content Security Policy", "SecurityError");
    NativeWorker.made.push(this);
  }

  postMessage(message: unknown): void {
    this.posted.push(message);
  }
}

/** Starts threads from `scripts`. */
function startFrom(...scripts: string[]): { workers: NativeWorker[]; failures: () => number } {
  NativeWorker.made = [];
  let failures = 0;
  const scope = { Worker: NativeWorker } as unknown as WorkerScope;
  const threads = new HelperThreads(scope, () => (failures += 1));
  for (const script of scripts) threads.start(script, start);
  return { workers: NativeWorker.made, failures: () => failures };
}

it("HelperThreads starts each thread in its own worker, with the code to run", () => {
  const { workers, failures } = startFrom("engine-1a2b.js", "engine-3c4d.js");
  expect(workers.map(({ script }) => script)).toEqual(["engine-1a2b.js", "engine-3c4d.js"]);
  for (const { options, posted } of workers) {
    expect(options).toEqual({ type: "module", name: "gpt2-thread" });
    expect(posted).toEqual([start]);
  }
  expect(failures()).toBe(0);
});

it("HelperThreads counts a failed thread once, and hides its errors from the worker that started it", () => {
  const { workers, failures } = startFrom("refused", "s.js", "s.js");
  expect(workers).toHaveLength(2);
  expect(failures()).toBe(1); // of the thread that cannot be created
  for (const round of [1, 2]) {
    const event = new Event("error", { cancelable: true });
    workers[1]?.dispatchEvent(event);
    expect(event.defaultPrevented).toBe(true);
    expect(failures(), `after error ${round}`).toBe(2);
  }
});

const { signal } = new AbortController();
/** An engine that reports these numbers of running threads, one at each query. */
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

it.each([
  ["waits for all threads", [1, 2, 2, 4], 4, 0],
  ["does not wait for a failed thread", [1, 3], 4, 1],
  ["does not wait for the only thread", [1], 1, 0],
])("gatherThreads %s", async (_, counts, wanted, failed) => {
  vi.useFakeTimers();
  const engine = engineWith(counts);
  const gathered = vi.fn();
  void gatherThreads(engine, wanted, () => failed, signal).then(gathered);
  await vi.advanceTimersByTimeAsync(1000);
  expect(gathered).toHaveBeenCalledWith(counts.at(-1));
  expect(engine.dropped).toBe(1);
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
});

it("gatherThreads can be aborted", async () => {
  const controller = new AbortController();
  const waiting = gatherThreads(engineWith([1]), 2, () => 0, controller.signal);
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});
