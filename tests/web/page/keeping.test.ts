// @vitest-environment happy-dom
// When the text is kept: soon after a change, at once when the page is hidden, and never so often that it costs much.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keepingOften } from "../../../web/page/editor/keeping.js";

let visibility: DocumentVisibilityState;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  visibility = "visible";
  vi.spyOn(document, "visibilityState", "get").mockImplementation(() => visibility);
  vi.stubGlobal("requestIdleCallback", undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it("keeps once, about a second after the first of many changes", () => {
  const keep = vi.fn();
  const keepSoon = keepingOften(keep);
  for (let change = 0; change < 5; change += 1) {
    keepSoon();
    vi.advanceTimersByTime(100);
  }
  expect(keep).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1000);
  expect(keep).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(60_000);
  expect(keep).toHaveBeenCalledTimes(1); // nothing has changed
  keepSoon();
  vi.advanceTimersByTime(1000);
  expect(keep).toHaveBeenCalledTimes(2);
});

it("waits for a pause where the browser tells of one", () => {
  const pauses: (() => void)[] = [];
  vi.stubGlobal("requestIdleCallback", (then: () => void) => pauses.push(then));
  const keep = vi.fn();
  keepingOften(keep)();
  vi.advanceTimersByTime(5000);
  expect(keep).not.toHaveBeenCalled();
  for (const then of pauses) then();
  expect(keep).toHaveBeenCalledTimes(1);
});

it("keeps at once when the page is hidden, and not when it is shown", () => {
  const keep = vi.fn();
  keepingOften(keep);
  document.dispatchEvent(new Event("visibilitychange"));
  expect(keep).not.toHaveBeenCalled();
  visibility = "hidden";
  document.dispatchEvent(new Event("visibilitychange"));
  expect(keep).toHaveBeenCalledTimes(1);
});

it("keeps the more seldom the longer that takes", () => {
  const keep = vi.fn(() => void vi.advanceTimersByTime(40));
  const keepSoon = keepingOften(keep);
  keepSoon();
  vi.advanceTimersByTime(1000);
  expect(keep).toHaveBeenCalledTimes(1);
  keepSoon();
  vi.advanceTimersByTime(3500);
  expect(keep).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1000);
  expect(keep).toHaveBeenCalledTimes(2);
});
