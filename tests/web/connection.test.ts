// Every request of a connection ends exactly once, whatever the worker or the caller does.
import { beforeEach, expect, it, vi } from "vitest";
import { CapacityError, InvalidArgumentError, LoadError, WorkerError } from "../../web/src/shared/errors.js";
import type { WorkerPort } from "../../web/src/client/connection.js";
import type { FromWorker, ToWorker } from "../../web/src/shared/protocol.js";
import { connect, type FakeWorker } from "./support/fake-worker.js";

beforeEach(() => void vi.useFakeTimers());

const failed = (id: number, code: string) =>
  ({ type: "failed", id, error: { code, message: "why" } }) as const;
const done = (id: number, result: string): FromWorker => ({ type: "done", id, result });
/** A connection with an unanswered request. */
function ask(options: { signal?: AbortSignal } = {}) {
  const { worker, connection } = connect();
  return { worker, connection, request: connection.request("detokenize", [1], options) };
}
/** Makes the worker send anything. */
const hear = (worker: WorkerPort, data: unknown) => worker.onmessage?.({ data });

it("a connection assigns each answer to its request, in any order", async () => {
  const { worker, connection, request: first } = ask();
  const second = connection.request("detokenize", [2]);
  expect(worker.received).toEqual([
    { type: "request", id: 1, name: "detokenize", args: [1] },
    { type: "request", id: 2, name: "detokenize", args: [2] },
  ]);
  worker.say({ type: "started", release: "unbuilt" }); // its own
  worker.say(done(2, "two"));
  worker.say(done(1, "one"));
  expect(await first).toBe("one");
  expect(await second).toBe("two");
});

it("a connection passes on events until the answer arrives, if the caller wants them", async () => {
  const { worker, connection } = connect();
  const events: unknown[] = [];
  const args = { prompt: "", stride: 1 };
  const request = connection.request("score", args, { onEvent: (event) => events.push(event) });
  const other = connection.request("score", args);
  const result = { tokens: [], logprob: 0, perplexity: null };
  for (const id of [1, 7, 2]) worker.say({ type: "event", id, event: { done: id, total: 9 } });
  for (const id of [1, 2]) worker.say({ type: "done", id, result });
  worker.say({ type: "event", id: 1, event: { done: 2, total: 9 } });
  expect([await request, await other]).toEqual([result, result]);
  expect(events).toEqual([{ done: 1, total: 9 }]);
});

it.each([
  ["invalid-argument", InvalidArgumentError],
  ["capacity", CapacityError],
  ["corrupt", LoadError],
  ["unsupported", LoadError],
  ["not-found", LoadError],
  ["network", LoadError],
  ["disposed", WorkerError],
  ["out-of-memory", Error],
  ["some-new-code", Error],
])("a connection keeps the code %s of the worker's error", async (code, type) => {
  const { worker, request } = ask();
  worker.say(failed(1, code));
  await expect(request).rejects.toThrow(type);
  const name = type.name === "Error" ? "Gpt2Error" : type.name;
  await expect(request).rejects.toMatchObject({ code, message: "why", name });
  expect(worker.terminations).toBe(0);
});

it("a connection settles each request once, whatever comes afterwards", async () => {
  const { worker, connection, request } = ask();
  const waiting = connection.request("detokenize", [2]);
  worker.say(done(1, "one"));
  worker.say(failed(1, "corrupt"));
  void connection.dispose();
  worker.say(done(2, "two"));
  expect(await request).toBe("one");
  await expect(waiting).rejects.toMatchObject({ code: "disposed" });
});

it("a connection rejects at once what cannot be sent", async () => {
  const { worker, connection } = connect();
  const args = [() => {}] as unknown as number[];
  await expect(connection.request("detokenize", args)).rejects.toThrow(InvalidArgumentError);
  const next = connection.request("detokenize", [1]);
  worker.say(done(2, "one"));
  expect(await next).toBe("one");
});

it("a connection reports what the worker says about itself", () => {
  const { worker, connection } = connect();
  worker.say({ type: "info", info: { threads: 1, notice: "before anybody listens" } });
  const infos: unknown[] = [];
  connection.onInfo = ({ info }) => infos.push(info);
  worker.say({ type: "info", info: { threads: 2, notice: "one is gone" } });
  expect(infos).toEqual([{ threads: 2, notice: "one is gone" }]);
});

it("a connection passes on that the network is back, until it ends", () => {
  const page = new EventTarget();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  const { worker, connection } = connect();
  page.dispatchEvent(new Event("online"));
  expect(worker.received).toEqual([{ type: "online" }]);
  void connection.dispose();
  page.dispatchEvent(new Event("online"));
  expect(worker.all("online")).toHaveLength(1);
});

const others = [null, 5, "done", {}, { type: "toString" }, { type: "webpackOk" }, []];
it.each(others)("a message of another script is ignored: %j", async (data) => {
  const { worker, request } = ask();
  hear(worker, data);
  worker.say(done(1, "one"));
  expect(await request).toBe("one");
});

it("an aborted request rejects with the signal's reason, notifies the worker, and ignores its answer", async () => {
  const { worker, connection } = connect();
  const controller = new AbortController();
  const events: unknown[] = [];
  const options = { signal: controller.signal, onEvent: (event: unknown) => void events.push(event) };
  const request = connection.request("score", { prompt: "", stride: 1 }, options);
  controller.abort(new Error("enough"));
  await expect(request).rejects.toThrow("enough");
  expect(worker.received.at(-1)).toEqual({ type: "cancel", id: 1 });
  worker.say({ type: "event", id: 1, event: { done: 1, total: 2 } });
  worker.say(done(1, "x"));
  expect(events).toEqual([]);
});

it("an abort affects neither other requests nor settled ones, which leave no listener", async () => {
  const { worker, connection } = connect();
  const controller = new AbortController();
  const { signal } = controller;
  const add = vi.spyOn(signal, "addEventListener");
  const remove = vi.spyOn(signal, "removeEventListener");
  const answered = connection.request("detokenize", [1], { signal });
  const failing = connection.request("detokenize", [2], { signal });
  const other = connection.request("detokenize", [3]);
  worker.say(done(1, "one"));
  worker.say(failed(2, "corrupt"));
  const listeners = [add, remove].map(({ mock }) => mock.calls.map(([, listener]) => listener));
  expect(listeners[1]).toEqual(listeners[0]);
  expect(remove).toHaveBeenCalledTimes(2);
  controller.abort();
  expect(await answered).toBe("one");
  await expect(failing).rejects.toMatchObject({ code: "corrupt" });
  expect(worker.all("cancel")).toEqual([]);
  worker.say(done(3, "three"));
  expect(await other).toBe("three");
});

it("an aborted request reports how much was read, until the request settles", async () => {
  const { worker, connection } = connect();
  const request = connection.open("detokenize", [1]);
  request.read(64);
  worker.say(done(1, ""));
  request.read(64);
  await request.result;
  expect(worker.all("read")).toEqual([{ type: "read", id: 1, tokens: 64 }]);
});

const alive: FromWorker = { type: "alive", lock: null };
const isOld = /is release unbuilt, but worker\.js is 0\.0\.9-12345678: reload/;
const broken = {} as MessageEvent;
const holding: FromWorker = { type: "alive", lock: "l" };
const old = { type: "started", release: "0.0.9-12345678" };
const invalid: [object, string][] = [
  [{ type: "done", id: 1, result: 5 }, "result is 5, expected text"],
  [{ type: "failed", id: 1 }, "error is undefined, expected an object"],
  [{ type: "failed", id: 1, error: { code: 5 } }, "error.code is 5, expected text"],
  [{ type: "event", id: 1, event: null }, "event is null, expected an object"],
  [{ type: "info" }, "info is undefined, expected an object"],
  [{ type: "alive", lock: 5 }, "lock is 5, expected text"],
  [{ type: "started" }, "release is undefined, expected text"],
];
/** What a worker does, and the code and message of the error that rejects waiting requests. */
const deaths: [string, (worker: FakeWorker) => unknown, string, string | RegExp][] = [
  ["throws", (worker) => (worker.say(alive), worker.fail("Uncaught x")), "worker-died", /Uncaught x/],
  ["sends garbage", (worker) => worker.onmessageerror?.(broken), "worker-died", /unreadable message/],
  ["never started", (worker) => worker.fail(), "network", /worker.js cannot be loaded/],
  ["lost its engine", (worker) => worker.say(failed(1, "worker-died")), "worker-died", /^why$/],
  ["is of another release", (worker) => hear(worker, old), "unsupported", isOld],
  ["frees its lock", (worker) => (worker.say(holding), worker.releaseLock()), "worker-died", /browser ended/],
  ...invalid.map(([data, why]): (typeof deaths)[number] => [
    `sends ${JSON.stringify(data)}`,
    (worker) => hear(worker, data),
    "worker-died",
    `worker.js has sent an unexpected message: message.${why}`,
  ]),
];

it.each(deaths)("a worker that %s ends all requests; later ones say so", async (_, die, code, why) => {
  const { worker, connection, request } = ask();
  const requests = [request, connection.request("detokenize", [2])];
  const caught = requests.map((each) => each.catch((reason: Error) => reason));
  die(worker);
  const message = typeof why === "string" ? why : (expect.stringMatching(why) as string);
  const [first, second] = (await Promise.all(caught)) as Error[];
  for (const each of [first, second]) expect(each).toMatchObject({ code, message });
  expect(worker.terminations).toBeGreaterThan(0);
  const sent = worker.received.length;
  const later = { code: "worker-died", message: `${first?.message}; the model must be loaded again` };
  const again = connection.request("detokenize", [3]);
  await expect(again).rejects.toMatchObject({ name: "WorkerError", ...later });
  expect(worker.received.length).toBe(sent);
  await connection.dispose();
  expect(worker.all("end")).toEqual([]);
});

it("a connection whose worker dies waits for the lock that the worker named, if any", () => {
  const { worker, locks } = connect();
  worker.say(alive);
  expect(locks).toEqual([]);
  worker.say({ type: "alive", lock: "its lock" });
  expect(locks).toEqual(["its lock"]);
});

it("a disposed connection rejects waiting and later requests, and lets the worker end itself", async () => {
  const { worker, connection, request } = ask();
  const disposed = connection.dispose();
  const error = { code: "disposed", name: "WorkerError", message: "the model was disposed of" };
  await expect(request).rejects.toMatchObject(error);
  await expect(connection.request("detokenize", [2])).rejects.toMatchObject({ code: "disposed" });
  expect(worker.received.at(-1)).toEqual({ type: "end" } satisfies ToWorker);
  expect(worker.terminations).toBe(0);
  const ended = vi.fn();
  void disposed.then(ended);
  await vi.advanceTimersByTimeAsync(0);
  expect(ended).not.toHaveBeenCalled();
  worker.say({ type: "ended" });
  expect(worker.terminations).toBe(1);
  await disposed;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(worker.terminations).toBe(1); // the timer is gone
  expect(vi.getTimerCount()).toBe(0);
});

it("a disposed connection terminates a worker that does not answer", async () => {
  const { worker, connection } = connect();
  const disposed = connection.dispose();
  await vi.advanceTimersByTimeAsync(999);
  expect(worker.terminations).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(worker.terminations).toBe(1);
  await disposed;
});

it("a disposed connection stays disposed, even if the worker dies afterwards", async () => {
  const { worker, connection } = connect();
  worker.say({ type: "alive", lock: "l" });
  const disposed = [connection.dispose(), connection.dispose()];
  expect(worker.all("end").length).toBe(1);
  worker.releaseLock();
  await Promise.all(disposed);
  await expect(connection.request("detokenize", [2])).rejects.toMatchObject({ code: "disposed" });
});
