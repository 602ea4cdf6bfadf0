import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SturdyWorker } from "../../web/src/client/sturdy-worker.js";
import { silentWorker } from "../../web/src/shared/failures.js";
import type { FromWorker, ToWorker } from "../../web/src/shared/protocol.js";
import { notImported } from "../../web/src/shared/script-address.js";
import { FakeWorker } from "./support/fake-worker.js";

const started: FromWorker = { type: "started", release: "r" };
const silentMs = 9000;
const cancel = (id: number): ToWorker => ({ type: "cancel", id });

/** A worker with so many ways to start; those that are listed throw. */
function begin(count: number, ...throwing: number[]) {
  const made: FakeWorker[] = [];
  const ways = Array.from({ length: count }, (_, i) => () => {
    if (throwing.includes(i)) throw new Error(`way ${i}`);
    const worker = new FakeWorker();
    made.push(worker);
    return worker as unknown as Worker;
  });
  const worker = new SturdyWorker(ways, undefined, silentMs);
  const heard: unknown[] = [];
  const failures = vi.fn();
  worker.onmessage = ({ data }) => void heard.push(data);
  worker.onerror = failures;
  return { worker, made, heard, failures };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A worker that one way makes, and that can be made past a cache. */
function renewable() {
  const made: FakeWorker[] = [];
  const make = () => {
    const worker = new FakeWorker();
    made.push(worker);
    return worker as unknown as Worker;
  };
  const renew = vi.fn(make);
  const worker = new SturdyWorker([make], renew, silentMs);
  const heard: unknown[] = [];
  worker.onmessage = ({ data }) => void heard.push(data);
  const failures = vi.fn();
  worker.onerror = failures;
  worker.postMessage(cancel(1));
  return { worker, made, renew, heard, failures };
}

describe("SturdyWorker with a damaged cache", () => {
  it("a damaged script is fetched once more past the cache, and an error says so if it is still damaged", () => {
    const { made, heard } = renewable();
    made[0]?.say({ type: "damaged", what: "first" });
    expect([made.length, made[0]?.terminations, heard]).toEqual([2, 1, []]);
    expect(made[1]?.received).toEqual([cancel(1)]);
    made[1]?.say({ type: "damaged", what: "second" });
    expect([made.length, heard]).toEqual([2, [{ type: "damaged", what: "second" }]]);
  });

  it("a worker that cannot be loaded is created once more, and then fails", () => {
    const { made, failures, renew } = renewable();
    made[0]?.fail();
    expect([made.length, renew.mock.calls.length, failures.mock.calls.length]).toEqual([2, 1, 0]);
    made[1]?.fail();
    expect([made.length, failures.mock.calls.length]).toEqual([2, 1]);
  });

  it("a worker that fails before its first message is created once more, but not after that", () => {
    const { made, failures, renew } = renewable();
    made[0]?.fail("ReferenceError");
    expect([made.length, renew.mock.calls.length, failures.mock.calls.length]).toEqual([2, 1, 0]);
    made[1]?.say(started);
    made[1]?.fail("ReferenceError");
    expect([made.length, failures.mock.calls.length]).toEqual([2, 1]);
  });

  it("a silent worker is created once more, and fails if that one is silent, too", () => {
    const { made, failures } = renewable();
    vi.advanceTimersByTime(silentMs - 1);
    expect(made.length).toBe(1);
    vi.advanceTimersByTime(1);
    expect([made.length, made[0]?.terminations]).toEqual([2, 1]);
    vi.advanceTimersByTime(silentMs - 1);
    expect(failures).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(failures).toHaveBeenCalledWith({ message: silentWorker });
    vi.advanceTimersByTime(10 * silentMs);
    expect([made.length, failures.mock.calls.length]).toEqual([2, 1]);
  });

  it("a worker may take its time after its first message, and does nothing once terminated", () => {
    const first = renewable();
    first.made[0]?.say({ type: "alive", lock: null });
    const second = renewable();
    second.worker.terminate();
    expect(vi.getTimerCount()).toBe(0);
    for (const { made } of [first, second]) expect(made.length).toBe(1);
  });
});

describe("SturdyWorker", () => {
  it("SturdyWorker uses the first worker that can be created", () => {
    const { worker, made, heard } = begin(3, 0);
    worker.postMessage(cancel(1));
    made[0]?.say(started);
    expect(made.length).toBe(1);
    expect(made[0]?.received).toEqual([cancel(1)]);
    expect(heard).toEqual([started]);
    worker.terminate();
    expect(made[0]?.terminations).toBe(1);
  });

  it("SturdyWorker holds back transferred messages, and those after them, until the worker's first message", () => {
    const { worker, made } = begin(2);
    const { port1, port2 } = new MessageChannel();
    worker.postMessage(cancel(1));
    worker.postMessage(cancel(2), [port2]);
    worker.postMessage(cancel(3));
    expect(made[0]?.received).toEqual([cancel(1)]);
    made[0]?.fail();
    made[1]?.say(started);
    worker.postMessage(cancel(4));
    expect(made[1]?.received).toEqual([1, 2, 3, 4].map(cancel));
    port1.close();
  });

  it("a cached worker of another release is created once more, and receives the same messages", () => {
    const made: FakeWorker[] = [];
    const make = () => {
      const worker = new FakeWorker();
      made.push(worker);
      return worker as unknown as Worker;
    };
    const worker = new SturdyWorker([make, make], make, silentMs);
    const heard: unknown[] = [];
    worker.onmessage = ({ data }) => void heard.push(data);
    worker.postMessage(cancel(1));
    made[0]?.say({ type: "started", release: "old" });
    expect([made.length, made[0]?.terminations, heard.length]).toEqual([2, 1, 0]);
    expect(made[1]?.received).toEqual([cancel(1)]);
    made[1]?.say({ type: "started", release: "older" }); // so this is the host's release
    expect([made.length, heard]).toEqual([2, [{ type: "started", release: "older" }]]);
  });

  it("if no worker can be created, SturdyWorker throws the last reason", () => {
    expect(() => begin(2, 0, 1)).toThrow("way 1");
    expect(() => begin(0)).toThrow("no way");
  });

  it("if a worker does not load, SturdyWorker sends the next one the same messages", () => {
    const { worker, made, heard, failures } = begin(3, 1);
    worker.postMessage(cancel(1));
    made[0]?.fail();
    worker.postMessage(cancel(2));
    expect(made[0]?.terminations).toBe(1);
    expect(made[1]?.received).toEqual([cancel(1), cancel(2)]);
    made[1]?.say(started);
    expect(heard).toEqual([started]);
    expect(failures).not.toHaveBeenCalled();
  });

  it("SturdyWorker fails if the last worker does not load", () => {
    for (const throwing of [[], [1]]) {
      const { made, failures } = begin(2, ...throwing);
      for (const worker of made) worker.fail();
      made[1]?.fail();
      expect(failures).toHaveBeenCalled();
    }
  });

  it("SturdyWorker fails at once if a worker that runs reports an error, or none is left", () => {
    const first = begin(2);
    first.made[0]?.say(started);
    first.made[0]?.fail();
    const second = begin(2);
    second.made[0]?.fail("SyntaxError");
    const third = begin(2);
    third.worker.terminate();
    third.made[0]?.fail();
    for (const { made, failures } of [first, second, third]) {
      expect(failures).toHaveBeenCalledTimes(1);
      expect(made.length).toBe(1);
    }
  });
});

describe("SturdyWorker without a script", () => {
  /** A worker whose scripts are all missing; `last` is the last way to start. */
  function without(last: () => Promise<Worker>, throwing = false) {
    const missing = new FakeWorker();
    const way = () => {
      if (throwing) throw new TypeError("no address");
      return missing as unknown as Worker;
    };
    const worker = new SturdyWorker([way], undefined, silentMs, last);
    const heard: unknown[] = [];
    const failures = vi.fn();
    worker.onmessage = ({ data }) => void heard.push(data);
    worker.onerror = failures;
    worker.postMessage(cancel(1));
    return { worker, missing, heard, failures };
  }

  it("without a script the last worker is used, and receives all messages", async () => {
    for (const throwing of [false, true]) {
      const inlined = new FakeWorker();
      const { worker, missing, heard } = without(async () => inlined as unknown as Worker, throwing);
      if (!throwing) missing.fail();
      worker.postMessage(cancel(2));
      await vi.advanceTimersByTimeAsync(0);
      expect(inlined.received).toEqual([cancel(1), cancel(2)]);
      inlined.say(started);
      expect(heard).toEqual([started]);
    }
  });

  it("the page's onerror receives the error of a worker that is not replaced, and of no other", async () => {
    const inlined = new FakeWorker();
    const { missing } = without(async () => inlined as unknown as Worker);
    missing.fail(`Uncaught ${notImported}`);
    await vi.advanceTimersByTimeAsync(0);
    inlined.say(started);
    inlined.fail("RuntimeError");
    expect([missing.hiddenErrors, inlined.hiddenErrors]).toEqual([1, 0]);
  });

  it("if the last worker cannot be created either, the error has the first reason", async () => {
    const { missing, failures } = without(async () => Promise.reject(new Error("no chunk")));
    missing.fail();
    await vi.advanceTimersByTimeAsync(0);
    expect(failures).toHaveBeenCalledTimes(1);
  });

  it("a script that exists but fails is not searched for elsewhere", async () => {
    const last = vi.fn(async () => new FakeWorker() as unknown as Worker);
    const { missing, failures } = without(last);
    missing.fail("SyntaxError");
    await vi.advanceTimersByTimeAsync(0);
    expect([last.mock.calls.length, failures.mock.calls.length]).toEqual([0, 1]);
  });

  it("SturdyWorker starts no worker after it was terminated", async () => {
    const inlined = new FakeWorker();
    const { worker, missing } = without(async () => inlined as unknown as Worker);
    missing.fail();
    worker.terminate();
    await vi.advanceTimersByTimeAsync(0);
    expect([inlined.terminations, inlined.received]).toEqual([1, []]);
  });
});
