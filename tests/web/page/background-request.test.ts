// What is asked of the model beside the writing gives way to what the visitor asks for, and comes again.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Model } from "../../../web/src/client/index.js";

vi.mock("../../../web/page/state/errors.js", () => ({
  isAbort: (error: unknown) => error instanceof DOMException && error.name === "AbortError",
}));
const { BackgroundRequest, pauseBackgroundRequests } =
  await import("../../../web/page/assistant/background-request.js");

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** One that asks for what never ends by itself; `asked` has the signal of each time. */
function make() {
  const state = { isIdle: true };
  const failed: unknown[] = [];
  const asked: AbortSignal[] = [];
  const asking = new BackgroundRequest({
    idleModel: () => (state.isIdle ? Promise.resolve({} as unknown as Model) : undefined),
    fail: (error) => failed.push(error),
  });
  const ask = (_: Model, signal: AbortSignal) => {
    asked.push(signal);
    return new Promise<void>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  };
  return { asking, asked, ask, failed, state };
}

describe("what is asked beside the writing", () => {
  it("is dropped when the visitor asks for something, and asked again after that", async () => {
    const { asking, asked, ask, failed } = make();
    asking.schedule(10, ask);
    await vi.advanceTimersByTimeAsync(10);
    expect(asked.map(({ aborted }) => aborted)).toEqual([false]);
    pauseBackgroundRequests();
    expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
    await vi.advanceTimersByTimeAsync(499);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked.map(({ aborted }) => aborted)).toEqual([true, false]);
    pauseBackgroundRequests(); // as often as it is at work
    await vi.advanceTimersByTimeAsync(500);
    expect(asked.map(({ aborted }) => aborted)).toEqual([true, true, false]);
    expect(failed).toEqual([]);
    asking.stop();
  });

  it("waits until the model has come to rest before it is asked again, and says so", async () => {
    const { asking, asked, ask, state } = make();
    const onWait = vi.fn();
    asking.schedule(0, ask, onWait);
    await vi.advanceTimersByTimeAsync(0);
    state.isIdle = false;
    pauseBackgroundRequests();
    await vi.advanceTimersByTimeAsync(1500);
    expect(asked).toHaveLength(1);
    expect(onWait).toHaveBeenCalledTimes(3);
    state.isIdle = true;
    await vi.advanceTimersByTimeAsync(500);
    expect(asked).toHaveLength(2);
    asking.stop();
  });

  it("waits for all of what made it give way, whether that succeeds or not", async () => {
    const { asking, asked, ask } = make();
    asking.schedule(0, ask);
    await vi.advanceTimersByTimeAsync(0);
    const ends: ((error?: Error) => void)[] = [];
    for (let i = 0; i < 2; i += 1)
      pauseBackgroundRequests(
        new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
      );
    await vi.advanceTimersByTimeAsync(1500);
    expect(asked).toHaveLength(1);
    ends[0]?.();
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(1);
    ends[1]?.(new Error("the worker died"));
    await vi.advanceTimersByTimeAsync(500);
    expect(asked).toHaveLength(2);
    asking.stop();
  });

  it("is not asked again once it was dropped, or has ended", async () => {
    const { asking, asked, ask } = make();
    asking.schedule(0, ask);
    await vi.advanceTimersByTimeAsync(0);
    asking.stop();
    pauseBackgroundRequests();
    await vi.advanceTimersByTimeAsync(2000);
    expect(asked).toHaveLength(1);
    let ended = 0;
    asking.schedule(0, async () => void (ended += 1));
    await vi.advanceTimersByTimeAsync(0);
    pauseBackgroundRequests();
    await vi.advanceTimersByTimeAsync(2000);
    expect(ended).toBe(1);
  });
});
