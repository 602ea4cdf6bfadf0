// Models that are loaded alike share a worker; each is disposed of on its own.
import { beforeEach, expect, it, vi } from "vitest";
import { loadThrough, type LoadOptions } from "../../web/src/client/load-model.js";
import type { Connection } from "../../web/src/client/connection.js";
import type { LoadResult } from "../../web/src/shared/protocol.js";
import type { LoadProgress } from "../../web/src/shared/types.js";
import { connect, type FakeWorker } from "./support/fake-worker.js";
import "./support/in-process.js"; // a page's address

let workers: FakeWorker[];
let start: () => Connection;
beforeEach(() => {
  workers = [];
  start = () => {
    const made = connect();
    workers.push(made.worker);
    return made.connection;
  };
});
const load = (options?: LoadOptions, folder = "m") => loadThrough(start, folder, options);
const info = { threads: 2, notice: null } as LoadResult["info"];
const finishLoad = (worker = workers[0]) => worker?.say({ type: "done", id: 1, result: { info } });
const disposed = { name: "WorkerError", code: "disposed" };

it("two loads of the same model share one worker", async () => {
  const models = [load(), load(undefined, "m/"), load({ threads: undefined, kv: null, signal: null })];
  finishLoad();
  const [first, second, third] = await Promise.all(models);
  expect(workers.length).toBe(1);
  expect(workers[0]?.all("request").length).toBe(1);
  expect(first).not.toBe(second);
  expect(third?.info).toBe(first?.info);
  finishLoad();
  await load(); // also later
  expect(workers.length).toBe(1);
});

it.each<[string, LoadOptions, string]>([
  ["another folder", {}, "n"],
  ["other threads", { threads: 1 }, "m"],
  ["another cache", { kv: "f32" }, "m"],
  ["another build", { variant: "simd" }, "m"],
  ["other headers", { headers: { authorization: "a" } }, "m"],
  ["other credentials", { credentials: "include" }, "m"],
  ["a fetch", { fetch: async () => new Response() }, "m"],
])("two loads with %s have two workers", async (_, options, folder) => {
  void load({});
  void load(options, folder);
  await vi.waitFor(() => expect(workers.length).toBe(2));
});

it("two loads both report progress, and an error thrown by onProgress fails only its own load", async () => {
  const reports: number[] = [];
  const mine = new Error("mine");
  const thrown = load({
    onProgress: () => {
      throw mine;
    },
  });
  const whole = load({ onProgress: ({ loadedBytes }) => reports.push(loadedBytes) });
  const say = (loadedBytes: number) =>
    workers[0]?.say({ type: "event", id: 1, event: { loadedBytes } as LoadProgress });
  say(1);
  await expect(thrown).rejects.toBe(mine);
  const late = new Error("late");
  const toldAtOnce: () => unknown = async () => Promise.reject(late);
  await expect(load({ onProgress: toldAtOnce })).rejects.toBe(late);
  say(2);
  finishLoad();
  void (await whole).dispose();
  expect(reports).toEqual([1, 2]);
  expect(workers.map((worker) => worker.all("end").length)).toEqual([1]);
});

it("two loads that share a worker fail together, and a third one starts anew", async () => {
  const both = [load(), load()].map((model) => expect(model).rejects.toMatchObject({ code: "corrupt" }));
  workers[0]?.say({ type: "failed", id: 1, error: { code: "corrupt", message: "config.json" } });
  await Promise.all(both);
  expect(workers[0]?.all("end").length).toBe(1);
  const third = load();
  expect(workers.length).toBe(2);
  finishLoad(workers[1]);
  expect((await third).info).toBe(info);
});

it("two loads are aborted one by one, and the last one's abort ends the worker", async () => {
  const controllers = [new AbortController(), new AbortController()];
  const [first, second] = controllers.map(({ signal }) => load({ signal }));
  controllers[0]?.abort(new Error("first"));
  await expect(first).rejects.toThrow("first");
  expect(workers[0]?.all("end")).toEqual([]);
  controllers[1]?.abort(new Error("second"));
  await expect(second).rejects.toThrow("second");
  expect(workers[0]?.all("end").length).toBe(1);
  void load();
  expect(workers.length).toBe(2);
});

async function two() {
  const models = [load(), load()];
  finishLoad();
  const [first, second] = await Promise.all(models);
  if (!first || !second) throw new Error("two models were loaded");
  return { first, second, worker: workers[0] };
}

it("two models that share a worker are disposed of separately", async () => {
  const { first, second, worker } = await two();
  const mine = first.tokenize("a");
  const other = second.tokenize("b");
  await first.dispose();
  await first.dispose(); // once is enough: the other is not touched
  await expect(mine).rejects.toMatchObject(disposed);
  await expect(first.tokenize("c")).rejects.toMatchObject(disposed);
  await expect(first.generate("c").next()).rejects.toMatchObject(disposed);
  expect(worker?.all("cancel").map(({ id }) => id)).toEqual([2]);
  expect(worker?.all("end")).toEqual([]);
  worker?.say({ type: "done", id: 3, result: [1] });
  expect(await other).toEqual([1]);
});

it("the last of two models ends the worker, and a later load starts anew", async () => {
  const { first, second, worker } = await two();
  await second.dispose();
  let isOver = false;
  const end = first.dispose().then(() => (isOver = true));
  expect(worker?.all("end").length).toBe(1);
  void load();
  expect(workers.length).toBe(2);
  await Promise.resolve();
  expect(isOver).toBe(false);
  worker?.say({ type: "ended" });
  await end;
  expect(worker?.terminations).toBe(1);
});

it("two models that share a worker die together, and the next load starts anew", async () => {
  const { first, second, worker } = await two();
  const waiting = [first.tokenize("a"), second.tokenize("b")].map((request) =>
    expect(request).rejects.toMatchObject({ code: "worker-died" }),
  );
  worker?.fail("crash");
  await Promise.all(waiting);
  void load();
  expect(workers.length).toBe(2);
  await first.dispose();
  await second.dispose();
  void load();
  expect(workers.length).toBe(2); // what the dead ones left behind ends nothing new
});
