// Ways in which a worker fails to start, and what the caller gets from SturdyWorker instead.
import { beforeEach, expect, it, vi } from "vitest";
import { SturdyWorker } from "../../web/src/client/sturdy-worker.js";
import { silentWorker } from "../../web/src/shared/failures.js";
import type { FromWorker, ToWorker } from "../../web/src/shared/protocol.js";
import { notImported } from "../../web/src/shared/script-address.js";
import { FakeWorker } from "./support/fake-worker.js";

const started = (release = "r"): FromWorker => ({ type: "started", release });
const old = started("old");
const silentMs = 9000;
const cancel = (id: number): ToWorker => ({ type: "cancel", id });
const asWorker = (worker: FakeWorker) => worker as unknown as Worker;

beforeEach(() => void vi.useFakeTimers());

interface Ways {
  ways?: number;
  /** The ways that throw. */
  throwing?: number[];
  /** Whether a worker can be created past the caches. */
  renews?: boolean;
  last?: () => Promise<Worker>;
}

/** A worker with so many ways to start, which has received one message. */
function begin({ ways = 1, throwing = [], renews = false, last }: Ways) {
  const made: FakeWorker[] = [];
  const make = () => asWorker(made[made.push(new FakeWorker()) - 1] as FakeWorker);
  const all = Array.from({ length: ways }, (_, i) => () => {
    if (throwing.includes(i)) throw new Error(`way ${i}`);
    return make();
  });
  const worker = new SturdyWorker(all, renews ? make : undefined, silentMs, last);
  const heard: unknown[] = [];
  const failures = vi.fn();
  worker.onmessage = ({ data }) => void heard.push(data);
  worker.onerror = failures;
  worker.postMessage(cancel(1));
  return { worker, made, heard, failures };
}

const silence = () => void vi.advanceTimersByTime(silentMs);
const fail = (message?: string) => (worker: FakeWorker | undefined) => worker?.fail(message);
const say = (message: FromWorker) => (worker: FakeWorker | undefined) => worker?.say(message);

it.each([
  ["cannot be loaded", fail(), { renews: true }, [], 1],
  ["cannot be loaded, and has another way", fail(), { ways: 2 }, [], 1],
  ["cannot be loaded, and has another way after one that throws", fail(), { ways: 3, throwing: [1] }, [], 1],
  ["fails before its first message", fail("ReferenceError"), { renews: true }, [], 1],
  ["is silent", silence, { renews: true }, [], 1],
  ["is old, as the host is", say(old), { ways: 2, renews: true }, [old], 0],
] as const)("a worker that %s is replaced once", (_, happens, ways, heardLast, failuresLast) => {
  const { made, heard, failures } = begin(ways as Ways);
  happens(made[0]);
  expect([made.length, made[0]?.terminations, heard, failures.mock.calls]).toEqual([2, 1, [], []]);
  expect(made[1]?.received).toEqual([cancel(1)]);
  happens(made[1]);
  expect([made.length, heard, failures.mock.calls.length]).toEqual([2, heardLast, failuresLast]);
});

it.each([
  ["prerendered or hidden", () => vi.stubGlobal("document", { hidden: true })],
  ["frozen", () => void vi.spyOn(performance, "now").mockReturnValueOnce(0).mockReturnValue(65_000)],
])("while the page is %s, a silent worker has not failed", (_, pause) => {
  pause();
  const { failures } = begin({});
  vi.advanceTimersByTime(silentMs + 1);
  expect(failures).not.toHaveBeenCalled();
  vi.unstubAllGlobals();
  vi.advanceTimersByTime(silentMs);
  expect(failures).toHaveBeenCalledWith({ message: silentWorker });
});

it("a silent worker is replaced after its time, and the failure says that it was silent", () => {
  const { made, failures } = begin({ renews: true });
  for (const count of [1, 2]) {
    vi.advanceTimersByTime(silentMs - 1);
    expect([made.length, failures.mock.calls.length]).toEqual([count, 0]);
    vi.advanceTimersByTime(1);
  }
  expect(failures).toHaveBeenCalledWith({ message: silentWorker });
  vi.advanceTimersByTime(10 * silentMs);
  expect([made.length, failures.mock.calls.length]).toEqual([2, 1]);
});

const unused = vi.fn(async () => asWorker(new FakeWorker()));
const noLast = async () => Promise.reject(new Error("no chunk"));
const later = () => void vi.advanceTimersByTime(10 * silentMs);
it.each<[string, Ways, ((worker: FakeWorker | undefined) => void)[]]>([
  ["ran", { ways: 2 }, [say(started()), fail()]],
  ["ran, however long it takes,", { renews: true }, [say({ type: "alive", lock: null }), later, fail("x")]],
  ["cannot run its script, which exists,", { ways: 2, last: unused }, [fail("SyntaxError")]],
  ["has no other way that does not throw", { ways: 2, throwing: [1] }, [fail()]],
  ["has no other way, nor a last worker,", { last: noLast }, [fail()]],
])("a worker that %s and reports an error is not replaced", async (_, ways, steps) => {
  const { made, failures } = begin(ways);
  for (const step of steps) step(made[0]);
  await vi.advanceTimersByTimeAsync(0);
  expect([made.length, failures.mock.calls.length, unused.mock.calls]).toEqual([1, 1, []]);
});

it("a worker that was terminated is not replaced", () => {
  const { worker, made, failures } = begin({ ways: 2 });
  worker.terminate();
  expect([vi.getTimerCount(), made[0]?.terminations]).toEqual([0, 1]);
  made[0]?.fail();
  expect([made.length, failures.mock.calls.length]).toEqual([1, 1]);
});

it("if no worker can be created, SturdyWorker throws the last reason", () => {
  expect(() => begin({ ways: 2, throwing: [0, 1] })).toThrow("way 1");
  expect(() => begin({ ways: 0 })).toThrow("no way");
});

it("SturdyWorker holds back transferred messages, and those after them, until the worker's first message", () => {
  const { worker, made } = begin({ ways: 2 });
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(cancel(2), [port2]);
  worker.postMessage(cancel(3));
  expect(made[0]?.received).toEqual([cancel(1)]);
  made[0]?.fail();
  made[1]?.say(started());
  worker.postMessage(cancel(4));
  expect(made[1]?.received).toEqual([1, 2, 3, 4].map(cancel));
  port1.close();
});

it.each([
  ["silent", silence],
  ["of another release", say(old)],
])("a worker that is %s is replaced by the last one", async (_, happens) => {
  const inlined = new FakeWorker();
  const { made, failures } = begin({ last: async () => asWorker(inlined) });
  happens(made[0]);
  await vi.advanceTimersByTimeAsync(0);
  expect([made[0]?.terminations, inlined.received, failures.mock.calls]).toEqual([1, [cancel(1)], []]);
});

it.each([[[]], [[0]]])("without a script the last worker gets all messages: %j", async (throwing) => {
  const inlined = new FakeWorker();
  const { worker, made, heard } = begin({ throwing, last: async () => asWorker(inlined) });
  made[0]?.fail();
  worker.postMessage(cancel(2));
  await vi.advanceTimersByTimeAsync(0);
  expect(inlined.received).toEqual([cancel(1), cancel(2)]);
  inlined.say(started());
  expect(heard).toEqual([started()]);
});

it("the page's onerror receives the error of a worker that is not replaced, and of no other", async () => {
  const inlined = new FakeWorker();
  const { made } = begin({ last: async () => asWorker(inlined) });
  made[0]?.fail(`Uncaught ${notImported}`);
  await vi.advanceTimersByTimeAsync(0);
  inlined.say(started());
  inlined.fail("RuntimeError");
  expect([made[0]?.hiddenErrors, inlined.hiddenErrors]).toEqual([1, 0]);
});

it("SturdyWorker starts no worker after it was terminated", async () => {
  const inlined = new FakeWorker();
  const { worker, made } = begin({ last: async () => asWorker(inlined) });
  made[0]?.fail();
  worker.terminate();
  await vi.advanceTimersByTimeAsync(0);
  expect([inlined.terminations, inlined.received]).toEqual([1, []]);
});
