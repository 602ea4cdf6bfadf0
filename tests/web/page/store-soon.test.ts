// The text is stored in the first pause after a change, or soon without one, but never so often that it is expensive.
import { beforeEach, expect, it, vi } from "vitest";
import { storeSoon } from "../../../web/page/library/store-soon.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));

/** Calls `change` every 100 ms. */
function changeFor(ms: number, change: () => void): void {
  for (let passed = 0; passed < ms; passed += 100) {
    change();
    vi.advanceTimersByTime(100);
  }
}

it("changes are stored within a second, and nothing is stored without one", () => {
  const store = vi.fn();
  const onEdit = storeSoon(store);
  changeFor(400, onEdit);
  expect(store).not.toHaveBeenCalled();
  vi.advanceTimersByTime(400);
  expect(store).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(60_000);
  expect(store).toHaveBeenCalledTimes(1); // nothing has changed
  changeFor(10_000, onEdit); // without a pause
  expect(store.mock.calls.length).toBeGreaterThanOrEqual(16);
});

it("slow storing happens less often while changes continue, and still after a pause", () => {
  let spent = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + spent);
  const store = vi.fn(() => void (spent += 100));
  const onEdit = storeSoon(store);
  changeFor(1000, onEdit);
  const before = store.mock.calls.length;
  changeFor(1200, onEdit);
  expect(store).toHaveBeenCalledTimes(before);
  vi.advanceTimersByTime(400);
  expect(store).toHaveBeenCalledTimes(before + 1);
});
