// Texts that cannot be stored at first.
import { beforeEach, expect, it, vi } from "vitest";
import { Attempts } from "../../../web/page/library/attempts.js";

beforeEach(() => {
  vi.useFakeTimers();
});

/**
 * The attempts of a tab that shows the text `shown`, and whose store is full at first. `newest` is the version of each text
 * in the store, and the tab has stored the first one; other tabs hold the texts in `held`.
 */
function begin(shown: { id: string }, newest?: number) {
  const stored: string[] = [];
  const device = { isFull: true, newest, base: newest ?? 0, held: new Set<string>() };
  const setting = {
    put: vi.fn((id: string, { content }: { content: unknown }) => {
      if (device.isFull) return Promise.reject(new DOMException("", "QuotaExceededError"));
      stored.push(`${id}: ${String(content)}`);
      return Promise.resolve();
    }),
    putShown: vi.fn((id: string) => id === shown.id),
    claim: (id: string) => {
      if (device.held.has(id)) return Promise.resolve(undefined);
      device.held.add(id);
      return Promise.resolve(() => void device.held.delete(id));
    },
    versions: () => {
      const { newest: version } = device;
      return Promise.resolve(version === undefined ? [] : [{ version, changed: 0, content: "" }]);
    },
    showFailure: vi.fn(),
    showStored: vi.fn(),
  };
  const attempts = new Attempts(setting);
  const attempt = (id: string, version: number, content: string) =>
    attempts.put({
      id,
      next: { version, changed: 0, content },
      base: () => device.base,
      stored: () => undefined,
    });
  return { ...setting, attempts, attempt, stored, device };
}

it("a replaced text is stored later in its last version, and only then the notice disappears", async () => {
  const shown = { id: "old" };
  const { attempt, stored, device, showFailure, showStored } = begin(shown);
  await expect(attempt("old", 1, "one")).rejects.toThrow();
  await expect(attempt("old", 2, "two")).rejects.toThrow();
  expect(showFailure).toHaveBeenCalledTimes(2);
  shown.id = "new";
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual([]); // it fails again, and is repeated
  device.isFull = false;
  await attempt("new", 1, "another");
  expect(showStored).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual(["new: another", "old: two"]);
  expect(showStored).toHaveBeenCalledTimes(1);
});

it("a newer version that is stored in the meantime is not overwritten", async () => {
  const { attempt, stored, device, putShown } = begin({ id: "new" });
  await expect(attempt("old", 1, "one")).rejects.toThrow();
  device.isFull = false;
  await attempt("old", 2, "two");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(putShown).not.toHaveBeenCalled();
  expect(stored).toEqual(["old: two"]);
});

it("a text that is given up is not stored again, and the notice disappears", async () => {
  const { attempts, attempt, stored, device, showStored } = begin({ id: "new" });
  await expect(attempt("old", 1, "one")).rejects.toThrow();
  expect([attempts.giveUp("old"), attempts.giveUp("old")]).toEqual([true, false]);
  expect(showStored).toHaveBeenCalledTimes(1);
  device.isFull = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual([]);
});

it.each([
  ["has stored a newer version of", 5],
  ["has deleted", undefined],
])("a text that another tab %s is given up", async (_, newest) => {
  const { attempt, stored, device, showStored } = begin({ id: "new" }, 4);
  await expect(attempt("old", 6, "six")).rejects.toThrow();
  Object.assign(device, { isFull: false, newest });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual([]);
  expect(showStored).toHaveBeenCalledTimes(1);
  expect(device.held.size).toBe(0);
});

it("a text is stored later only with its claim", async () => {
  const { attempt, stored, device } = begin({ id: "new" }, 4);
  await expect(attempt("old", 6, "six")).rejects.toThrow();
  device.isFull = false;
  device.held.add("old");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual([]);
  device.held.clear();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual(["old: six"]);
  expect(device.held.size).toBe(0);
});
