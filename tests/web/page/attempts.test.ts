// Texts that cannot be stored at first.
import { beforeEach, expect, it, vi } from "vitest";
import { Attempts } from "../../../web/page/library/attempts.js";

beforeEach(() => {
  vi.useFakeTimers();
  return () => void vi.useRealTimers();
});

/** The attempts of a tab that shows the text `shown`, and whose store is full at first. */
function begin(shown: { id: string }) {
  const stored: [id: string, content: unknown][] = [];
  const device = { isFull: true };
  const setting = {
    put: vi.fn((id: string, { content }: { content: unknown }) => {
      if (device.isFull) return Promise.reject(new DOMException("", "QuotaExceededError"));
      stored.push([id, content]);
      return Promise.resolve();
    }),
    repeat: vi.fn((id: string, putAgain: () => void) => {
      if (id !== shown.id) putAgain();
    }),
    showFailure: vi.fn(),
    showStored: vi.fn(),
  };
  const attempts = new Attempts(setting);
  const attempt = (id: string, version: number, content: string) =>
    attempts.put({ id, next: { version, changed: 0, content }, stored: () => undefined });
  return { ...setting, attempts, attempt, stored, device };
}

it("a text that was set aside unstored is stored later in its last version, and only then the notice goes", async () => {
  const shown = { id: "old" };
  const { attempt, stored, device, showFailure, showStored } = begin(shown);
  await expect(attempt("old", 1, "one")).rejects.toThrow();
  await expect(attempt("old", 2, "two")).rejects.toThrow();
  expect(showFailure).toHaveBeenCalledTimes(2);
  shown.id = "new";
  device.isFull = false;
  await attempt("new", 1, "another");
  expect(showStored).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual([
    ["new", "another"],
    ["old", "two"],
  ]);
  expect(showStored).toHaveBeenCalledTimes(1);
});

it("an attempt that fails again is repeated until it succeeds", async () => {
  const { attempt, stored, device } = begin({ id: "new" });
  await expect(attempt("old", 1, "one")).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual([]);
  device.isFull = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual([["old", "one"]]);
});

it("a newer version that is stored in the meantime is not overwritten", async () => {
  const { attempt, stored, device, repeat } = begin({ id: "new" });
  await expect(attempt("old", 1, "one")).rejects.toThrow();
  device.isFull = false;
  await attempt("old", 2, "two");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(repeat).not.toHaveBeenCalled();
  expect(stored).toEqual([["old", "two"]]);
});

it("a text that another tab may have now is not stored again", async () => {
  const { attempts, attempt, stored, device } = begin({ id: "new" });
  await expect(attempt("old", 1, "one")).rejects.toThrow();
  expect([attempts.giveUp("old"), attempts.giveUp("old")]).toEqual([true, false]);
  device.isFull = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual([]);
});
