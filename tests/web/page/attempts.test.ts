// Texts that cannot be stored at first.
import { beforeEach, expect, it, vi } from "vitest";
import { Attempts } from "../../../web/page/library/attempts.js";

beforeEach(() => void vi.useFakeTimers());

/**
 * The attempts of a tab that shows the text `shown`, after it could not store the text "old". `newest` is the stored version of
 * that text, of which the tab has stored the first one; other tabs hold the texts in `held`.
 */
async function begin(newest?: number, shown = { id: "new" }) {
  const stored: string[] = [];
  const device = { isFull: true, newest, base: newest ?? 0, held: new Set<string>() };
  const setting = {
    put: async (id: string, { content }: { content: unknown }) => {
      if (device.isFull) throw new DOMException("", "QuotaExceededError");
      stored.push(`${id}: ${String(content)}`);
    },
    putShown: (id: string) => id === shown.id,
    claim: async (id: string) => {
      if (device.held.has(id)) return undefined;
      device.held.add(id);
      return () => void device.held.delete(id);
    },
    versions: async () =>
      device.newest === undefined ? [] : [{ version: device.newest, changed: 0, content: "" }],
    showFailure: vi.fn(),
    showStored: vi.fn(),
  };
  const attempts = new Attempts(setting);
  const attempt = (id: string, version: number) => {
    const next = { version, changed: 0, content: version };
    return attempts.put({ id, next, base: () => device.base, stored: () => undefined });
  };
  await expect(attempt("old", 6)).rejects.toThrow();
  return { ...setting, attempts, attempt, stored, device };
}
type Given = Awaited<ReturnType<typeof begin>>;

it("a replaced text is stored later in its last version, and only then the notice disappears", async () => {
  const shown = { id: "old" };
  const { attempt, stored, device, showFailure, showStored } = await begin(undefined, shown);
  await expect(attempt("old", 7)).rejects.toThrow();
  expect(showFailure).toHaveBeenCalledTimes(2);
  shown.id = "new";
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual([]); // it fails again, and is repeated
  device.isFull = false;
  await attempt("new", 1);
  expect(showStored).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual(["new: 1", "old: 7"]);
  expect(showStored).toHaveBeenCalledTimes(1);
});

it.each<[string, number | undefined, (given: Given) => unknown, string[]]>([
  ["stores a newer version", undefined, ({ attempt }) => attempt("old", 7), ["old: 7"]],
  ["gives the text up", undefined, ({ attempts }) => attempts.giveUp("old"), []],
  ["finds a newer version of another tab", 4, ({ device }) => (device.newest = 5), []],
  ["finds that another tab has deleted the text", 4, ({ device }) => (device.newest = undefined), []],
])("a tab that %s stores no other version, and the notice disappears", async (_, newest, act, expected) => {
  const given = await begin(newest);
  given.device.isFull = false;
  await act(given);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(given.stored).toEqual(expected);
  expect(given.showStored).toHaveBeenCalledTimes(1);
  expect(given.device.held.size).toBe(0);
  expect(given.attempts.giveUp("old")).toBe(false);
});

it("a text is stored later only with its claim", async () => {
  const { stored, device } = await begin(4);
  device.isFull = false;
  device.held.add("old");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual([]);
  device.held.clear();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toEqual(["old: 6"]);
  expect(device.held.size).toBe(0);
});
