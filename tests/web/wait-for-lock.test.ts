// How the page notices that its worker has ended: it waits for a lock that the worker holds.
import { expect, it, vi } from "vitest";
import { startWorker } from "../../web/src/client/start-worker.js";
import { waitForLock } from "../../web/src/client/wait-for-lock.js";
import { FakeLocks } from "./support/fake-opfs.js";
import { FakeWorker } from "./support/fake-worker.js";

const settle = () => new Promise((resolve) => setTimeout(resolve));

it("waitForLock calls back only after the holder of the lock has ended", async () => {
  const locks = new FakeLocks();
  vi.stubGlobal("navigator", { locks });
  let end: () => void = () => {};
  void locks.request("worker", () => new Promise<void>((resolve) => (end = resolve)));
  await settle();
  const run = vi.fn();
  waitForLock("worker", run);
  await settle();
  expect(run).not.toHaveBeenCalled();
  end();
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1));
});

it.each([
  ["the page cannot see the lock", { locks: new FakeLocks() }],
  ["there are no locks", {}],
  ["the browser refuses them", { locks: { query: () => Promise.reject(new Error("no")) } }],
])("waitForLock does nothing if %s", async (_, navigator) => {
  vi.stubGlobal("navigator", navigator);
  const run = vi.fn();
  waitForLock("worker", run);
  await settle();
  expect(run).not.toHaveBeenCalled();
});

it("the requests to a worker fail once the lock that it named is free", async () => {
  const worker = new FakeWorker();
  const locks = new FakeLocks();
  vi.stubGlobal(
    "Worker",
    vi.fn(function () {
      return worker;
    }),
  );
  vi.stubGlobal("navigator", { locks });
  void locks.request("its lock", settle);
  await settle();
  const request = startWorker().request("detokenize", [1]);
  worker.say({ type: "alive", lock: "its lock" });
  await expect(request).rejects.toMatchObject({ code: "worker-died" });
});
