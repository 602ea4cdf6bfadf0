// The page's own requests run one at a time, the most urgent first, and let the visitor's requests go before them.
import { beforeEach, expect, it, vi } from "vitest";
import { RequestQueue } from "../../../web/page/assistant/request-queue.js";
import type { Model } from "../../../web/src/client/index.js";

beforeEach(() => void vi.useFakeTimers());

/** A queue whose requests log when they start and stop; each runs until `finish` is called with its name. */
function makeQueue() {
  const state = { isIdle: true };
  const log: string[] = [];
  const failed: unknown[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const queue = new RequestQueue(() => (state.isIdle ? Promise.resolve({} as unknown as Model) : undefined));
  const ask = (name: string) => (_: Model, signal: AbortSignal) => {
    log.push(`${name} starts`);
    return new Promise<void>((resolve, reject) => {
      ends.set(name, (error) => (error ? reject(error) : resolve()));
      signal.addEventListener("abort", () => {
        log.push(`${name} is aborted`);
        reject(signal.reason as Error);
      });
    });
  };
  const requests = (kind: Parameters<RequestQueue["requests"]>[0]) =>
    queue.requests(kind, (error) => failed.push(error));
  /** Lets `ms` pass, and gives what happened meanwhile. */
  const after = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    return log.splice(0);
  };
  const finish = (name: string, error?: Error) => ends.get(name)?.(error);
  return { queue, state, failed, ask, requests, after, finish };
}

it("a request of the visitor interrupts the page's request, which is repeated after a pause", async () => {
  const { queue, ask, requests, after, failed } = makeQueue();
  requests("scores").schedule(10, ask("scores"));
  expect(await after(9)).toEqual([]);
  expect(await after(1)).toEqual(["scores starts"]);
  queue.putFirst();
  expect(await after(499)).toEqual(["scores is aborted"]);
  expect(await after(1)).toEqual(["scores starts"]);
  queue.putFirst(); // as often as it runs
  expect(await after(500)).toEqual(["scores is aborted", "scores starts"]);
  expect(failed).toEqual([]);
});

it("a request of the visitor keeps others waiting until it has succeeded or failed", async () => {
  const { queue, ask, requests, after } = makeQueue();
  requests("scores").schedule(0, ask("scores"));
  await after(0);
  const ends: ((error?: Error) => void)[] = [];
  for (let i = 0; i < 2; i += 1)
    queue.putFirst(
      new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
    );
  expect(await after(1500)).toEqual(["scores is aborted"]);
  ends[0]?.();
  expect(await after(1000)).toEqual([]);
  ends[1]?.(new Error("the worker died"));
  expect(await after(500)).toEqual(["scores starts"]);
});

it("a request of the page waits until the model is idle, and reports each wait", async () => {
  const { state, ask, requests, after } = makeQueue();
  const onWait = vi.fn();
  state.isIdle = false;
  requests("cut").schedule(0, ask("cut"), onWait);
  expect(await after(1400)).toEqual([]);
  expect(onWait).toHaveBeenCalledTimes(3);
  state.isIdle = true;
  expect(await after(500)).toEqual(["cut starts"]);
});

it("a request of the page interrupts a less urgent one, which is repeated afterwards", async () => {
  const { ask, requests, after, finish } = makeQueue();
  requests("scores").schedule(0, ask("scores"));
  await after(0);
  requests("details").schedule(0, ask("details"));
  expect(await after(2000)).toEqual(["scores is aborted", "details starts"]);
  finish("details");
  expect(await after(0)).toEqual(["scores starts"]);
});

it("a request of the page waits for a more urgent one, which continues", async () => {
  const { ask, requests, after, finish } = makeQueue();
  requests("details").schedule(0, ask("details"));
  await after(0);
  requests("prefill").schedule(0, ask("prefill"));
  requests("scores").schedule(0, ask("scores"));
  expect(await after(2000)).toEqual([]);
  finish("details");
  expect(await after(0)).toEqual(["scores starts"]);
  finish("scores");
  expect(await after(0)).toEqual(["prefill starts"]);
});

it("a request of the page replaces the previous one of the same kind", async () => {
  const { ask, requests, after } = makeQueue();
  const details = requests("details");
  details.schedule(0, ask("first"));
  await after(0);
  details.schedule(10, ask("second"));
  expect(await after(9)).toEqual(["first is aborted"]);
  expect(await after(1)).toEqual(["second starts"]);
});

it("a request of the page is not repeated after it was stopped or has ended", async () => {
  const { queue, ask, requests, after, finish } = makeQueue();
  const details = requests("details");
  details.schedule(0, ask("details"));
  await after(0);
  details.stop();
  queue.putFirst();
  expect(await after(2000)).toEqual(["details is aborted"]);
  details.schedule(0, ask("details"));
  await after(0);
  finish("details");
  await after(0);
  queue.putFirst();
  expect(await after(2000)).toEqual([]);
});

it("stopping a request of the page lets the next one run, also while it waits", async () => {
  const { ask, requests, after } = makeQueue();
  const details = requests("details");
  details.schedule(0, () => new Promise<void>(() => {})); // ignores its signal
  requests("scores").schedule(0, ask("scores"));
  expect(await after(0)).toEqual([]);
  details.stop();
  expect(await after(0)).toEqual(["scores starts"]);
});

it("a failed request of the page reports only to its owner, and the next one runs", async () => {
  const { ask, requests, after, finish, failed } = makeQueue();
  requests("details").schedule(0, ask("details"));
  requests("scores").schedule(0, ask("scores"));
  await after(0);
  finish("details", new Error("too long"));
  expect(await after(0)).toEqual(["scores starts"]);
  expect(failed).toEqual([new Error("too long")]);
});
