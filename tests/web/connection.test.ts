import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CapacityError, InvalidArgumentError, LoadError, WorkerError } from "../../web/src/shared/errors.js";
import type { FromWorker, ToWorker } from "../../web/src/shared/protocol.js";
import { connect } from "./support/fake-worker.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const failed = (id: number, code: string): FromWorker => ({
  type: "failed",
  id,
  error: { code, message: "why" },
});
/** Whether it is settled after all pending tasks. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  let state = "pending";
  promise.then(
    () => (state = "resolved"),
    () => (state = "rejected"),
  );
  await vi.advanceTimersByTimeAsync(0);
  return state;
}

describe("Connection", () => {
  it("a connection assigns each answer to its request, in any order", async () => {
    const { worker, connection } = connect();
    const first = connection.request("detokenize", [1]);
    const second = connection.request("detokenize", [2]);
    expect(worker.received).toEqual([
      { type: "request", id: 1, name: "detokenize", args: [1] },
      { type: "request", id: 2, name: "detokenize", args: [2] },
    ]);
    worker.say({ type: "done", id: 2, result: "two" });
    worker.say({ type: "done", id: 1, result: "one" });
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
    const { worker, connection } = connect();
    const request = connection.request("detokenize", [1]);
    worker.say(failed(1, code));
    await expect(request).rejects.toThrow(type);
    const name = type.name === "Error" ? "Gpt2Error" : type.name;
    await expect(request).rejects.toMatchObject({ code, message: "why", name });
    expect(worker.terminations).toBe(0);
  });

  it("a connection settles each request once, whatever comes afterwards", async () => {
    const { worker, connection } = connect();
    const request = connection.request("detokenize", [1]);
    const waiting = connection.request("detokenize", [2]);
    worker.say({ type: "done", id: 1, result: "one" });
    worker.say(failed(1, "corrupt"));
    void connection.dispose();
    worker.say({ type: "done", id: 2, result: "two" });
    expect(await request).toBe("one");
    await expect(waiting).rejects.toMatchObject({ code: "disposed" });
  });

  it("a connection rejects at once what cannot be sent", async () => {
    const { worker, connection } = connect();
    const args = [() => {}] as unknown as number[];
    await expect(connection.request("detokenize", args)).rejects.toThrow(InvalidArgumentError);
    const next = connection.request("detokenize", [1]);
    worker.say({ type: "done", id: 2, result: "one" });
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
});

describe("Connection, offline", () => {
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
    vi.unstubAllGlobals();
  });
});

describe("Connection, with invalid messages from the worker", () => {
  it.each([
    ["done", { type: "done", id: 1, result: 5 }, "message.result is 5, expected text"],
    ["failed", { type: "failed", id: 1 }, "message.error is undefined, expected an object"],
    ["failed", { type: "failed", id: 1, error: { code: 5 } }, "message.error.code is 5, expected text"],
    ["event", { type: "event", id: 1, event: null }, "message.event is null, expected an object"],
    ["info", { type: "info" }, "message.info is undefined, expected an object"],
    ["alive", { type: "alive", lock: 5 }, "message.lock is 5, expected text"],
    ["started", { type: "started" }, "message.release is undefined, expected text"],
  ])("an invalid %s ends the connection, and the error names the field", async (_, data, message) => {
    const { worker, connection } = connect();
    const request = connection.request("detokenize", [1]);
    worker.onmessage?.({ data } as MessageEvent<unknown>);
    await expect(request).rejects.toMatchObject({ code: "worker-died" });
    await expect(request).rejects.toThrow(message);
    expect(worker.terminations).toBe(1);
  });

  const others = [null, 5, "done", {}, { type: "toString" }, { type: "webpackOk" }, []];
  it.each(others)("a message of another script is ignored: %j", async (data) => {
    const { worker, connection } = connect();
    const request = connection.request("detokenize", [1]);
    worker.onmessage?.({ data } as MessageEvent<unknown>);
    worker.say({ type: "done", id: 1, result: "one" });
    expect(await request).toBe("one");
  });
});

describe("Connection, aborted", () => {
  it("an aborted request sends nothing for a signal that was aborted before", async () => {
    const { worker, connection } = connect();
    const request = connection.request("detokenize", [1], { signal: AbortSignal.abort(new Error("late")) });
    await expect(request).rejects.toThrow("late");
    expect(worker.received).toEqual([]);
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
    worker.say({ type: "done", id: 1, result: "x" });
    expect(events).toEqual([]);
  });

  it("an abort affects neither other requests nor settled ones, which leave no listener", async () => {
    const { worker, connection } = connect();
    const controller = new AbortController();
    const { signal } = controller;
    const add = vi.spyOn(signal, "addEventListener");
    const remove = vi.spyOn(signal, "removeEventListener");
    const done = connection.request("detokenize", [1], { signal });
    const failing = connection.request("detokenize", [2], { signal });
    const other = connection.request("detokenize", [3]);
    worker.say({ type: "done", id: 1, result: "one" });
    worker.say(failed(2, "corrupt"));
    const listeners = [add, remove].map(({ mock }) => mock.calls.map(([, listener]) => listener));
    expect(listeners[1]).toEqual(listeners[0]);
    expect(remove).toHaveBeenCalledTimes(2);
    controller.abort();
    expect(await done).toBe("one");
    await expect(failing).rejects.toMatchObject({ code: "corrupt" });
    expect(worker.all("cancel")).toEqual([]);
    worker.say({ type: "done", id: 3, result: "three" });
    expect(await other).toBe("three");
  });

  it("a request can be given up once by its caller", async () => {
    const { worker, connection } = connect();
    const request = connection.open("detokenize", [1]);
    request.cancel(new Error("left"));
    request.cancel(new Error("again"));
    await expect(request.result).rejects.toThrow("left");
    expect(worker.all("cancel")).toEqual([{ type: "cancel", id: 1 }]);
  });

  it("an aborted request reports how much was read, until the request settles", async () => {
    const { worker, connection } = connect();
    const request = connection.open("detokenize", [1]);
    request.read(64);
    worker.say({ type: "done", id: 1, result: "" });
    request.read(64);
    await request.result;
    expect(worker.all("read")).toEqual([{ type: "read", id: 1, tokens: 64 }]);
  });
});

describe("Connection, whose worker dies", () => {
  const alive: FromWorker = { type: "alive", lock: null };
  /** Each way in which a worker can end, and the error that rejects waiting requests. */
  const deaths: [string, (of: ReturnType<typeof connect>) => void, object][] = [
    [
      "throws",
      ({ worker }) => (worker.say(alive), worker.fail("Uncaught Error: x")),
      { code: "worker-died", message: expect.stringContaining("Uncaught Error: x") },
    ],
    [
      "throws without a word",
      ({ worker }) => (worker.say(alive), worker.fail()),
      { code: "worker-died", message: expect.stringContaining("gives no reason") },
    ],
    [
      "sends what cannot be read",
      ({ worker }) => worker.onmessageerror?.({} as MessageEvent),
      { code: "worker-died", message: expect.stringContaining("unreadable message") },
    ],
    [
      "never started",
      ({ worker }) => worker.fail(),
      { code: "network", message: expect.stringContaining("worker.js cannot be loaded") },
    ],
    ["never started, either", ({ worker }) => worker.fail(""), { code: "network" }],
    [
      "cannot run its script",
      ({ worker }) => worker.fail("SyntaxError: import"),
      { code: "unsupported", message: expect.stringContaining("Firefox 114") },
    ],
    [
      "answers that its engine died",
      ({ worker }) => worker.say(failed(1, "worker-died")),
      { code: "worker-died", message: "why" },
    ],
    [
      "is of another release",
      ({ worker }) => worker.say({ type: "started", release: "0.0.9-12345678" }),
      {
        code: "unsupported",
        message: expect.stringMatching(/is release unbuilt, but worker\.js is 0\.0\.9-12345678: reload/),
      },
    ],
    [
      "is damaged",
      ({ worker }) => worker.say({ type: "damaged", what: "worker.js has SHA-256 1, expected 2" }),
      { name: "LoadError", code: "corrupt", message: "worker.js has SHA-256 1, expected 2" },
    ],
    [
      "gives back its lock",
      ({ worker }) => (worker.say({ type: "alive", lock: "l" }), worker.releaseLock()),
      { code: "worker-died", message: expect.stringContaining("the browser ended") },
    ],
  ];

  it.each(deaths)("a worker that %s ends all requests; later ones say so", async (_, die, error) => {
    const made = connect();
    const { worker, connection } = made;
    const requests = [1, 2].map((id) => connection.request("detokenize", [id]));
    const caught = requests.map((request) => request.catch((reason: Error) => reason));
    die(made);
    const [first, second] = (await Promise.all(caught)) as Error[];
    expect(first).toMatchObject(error);
    expect(second).toMatchObject(error);
    expect(worker.terminations).toBeGreaterThan(0);
    const sent = worker.received.length;
    await expect(connection.request("detokenize", [3])).rejects.toMatchObject({
      name: "WorkerError",
      code: "worker-died",
      message: `${first?.message}; the model must be loaded again`,
    });
    expect(worker.received.length).toBe(sent);
    await connection.dispose();
    expect(worker.all("end")).toEqual([]);
  });

  it("a connection accepts a worker of its own release", async () => {
    const { worker, connection } = connect();
    const waiting = connection.request("detokenize", [1]);
    worker.say({ type: "started", release: "unbuilt" });
    worker.say({ type: "done", id: 1, result: "text" });
    expect(await waiting).toBe("text");
  });

  it("a connection whose worker dies waits for the lock that the worker named, if any", () => {
    const { worker, locks } = connect();
    worker.say(alive);
    expect(locks).toEqual([]);
    worker.say({ type: "alive", lock: "its lock" });
    expect(locks).toEqual(["its lock"]);
  });
});

describe("Connection, disposed of", () => {
  it("a disposed connection rejects waiting and later requests, and lets the worker end itself", async () => {
    const { worker, connection } = connect();
    const request = connection.request("detokenize", [1]);
    const disposed = connection.dispose();
    await expect(request).rejects.toMatchObject({ code: "disposed", name: "WorkerError" });
    await expect(connection.request("detokenize", [2])).rejects.toMatchObject({ code: "disposed" });
    expect(worker.received.at(-1)).toEqual({ type: "end" } satisfies ToWorker);
    expect(worker.terminations).toBe(0);
    expect(await stateOf(disposed)).toBe("pending");
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
});
