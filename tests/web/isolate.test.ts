// The client's side of isolate.js; tests/embed/hosts.spec.ts has both in a browser.
import { beforeEach, expect, it, vi } from "vitest";
import { isolate } from "../../web/src/client/isolate.js";

const items = new Map<string, string>();
const reload = vi.fn();
const register = vi.fn(async () => {});

beforeEach(() => {
  items.clear();
  reload.mockClear();
  register.mockReset();
  vi.stubGlobal("crossOriginIsolated", false);
  vi.stubGlobal("isSecureContext", true);
  const page = {};
  vi.stubGlobal("window", Object.assign(page, { parent: page }));
  vi.stubGlobal("location", { reload });
  vi.stubGlobal("navigator", { serviceWorker: { register, ready: Promise.resolve() } });
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => items.set(key, value),
  });
});

it("isolate registers the script, reloads the page, and does not return", async () => {
  const isolating = isolate("sw/isolate.js");
  await vi.waitFor(() => expect(reload).toHaveBeenCalledTimes(1));
  expect(register).toHaveBeenCalledWith("sw/isolate.js");
  const soon = new Promise((resolve) => setTimeout(resolve, 10, "soon"));
  expect(await Promise.race([isolating, soon])).toBe("soon");
  expect(await isolate()).toBe(false); // the first reload did not help, so there is no second one
  expect(reload).toHaveBeenCalledTimes(1);
});

it("isolate does nothing if the page is isolated", async () => {
  vi.stubGlobal("crossOriginIsolated", true);
  expect(await isolate()).toBe(true);
  expect(register).not.toHaveBeenCalled();
});

it.each([
  ["over plain http", () => vi.stubGlobal("isSecureContext", false)],
  ["without service workers", () => vi.stubGlobal("navigator", {})],
  ["in a frame", () => vi.stubGlobal("window", { parent: {} })],
  ["without session storage", () => vi.stubGlobal("sessionStorage", undefined)],
  ["where the script is refused", () => register.mockRejectedValue(new TypeError("404"))],
])("isolate continues without isolation %s", async (_, spoil) => {
  spoil();
  expect(await isolate()).toBe(false);
  expect(reload).not.toHaveBeenCalled();
});

const never = new Promise<never>(() => {});
it.each([
  ["does not come", never],
  ["never gets ready", Promise.resolve()],
])("isolate waits until an abort, or for three seconds: the script %s", async (_, registered) => {
  register.mockReturnValue(registered);
  vi.stubGlobal("navigator", { serviceWorker: { register, ready: never } });
  const controller = new AbortController();
  const isolating = isolate("isolate.js", { signal: controller.signal });
  await vi.waitFor(() => expect(register).toHaveBeenCalled());
  controller.abort(new Error("enough"));
  await expect(isolating).rejects.toThrow("enough");
  items.clear();
  vi.useFakeTimers();
  const patient = isolate();
  await vi.advanceTimersByTimeAsync(3000);
  expect(await patient).toBe(false);
  expect(reload).not.toHaveBeenCalled();
});
