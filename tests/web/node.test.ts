// The replacements for a browser's worker and fetch in Node.js, without threads; tests/embed/node.spec.ts tests them with threads.
import { setMaxListeners } from "node:events";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import type { Connection, WorkerPort } from "../../web/src/client/connection.js";

/** A thread whose messages the test sets. */
const threads = await vi.hoisted(async () => {
  const { EventEmitter } = await import("node:events");
  class FakeThread extends EventEmitter {
    static all: FakeThread[] = [];
    readonly posted: unknown[][] = [];
    isReferenced = true;
    isTerminated = false;
    readonly address: URL;
    readonly options: unknown;
    constructor(address: URL, options: unknown) {
      super();
      this.address = address;
      this.options = options;
      FakeThread.all.push(this);
    }
    ref = () => (this.isReferenced = true);
    unref = () => (this.isReferenced = false);
    postMessage = (...message: unknown[]) => this.posted.push(message);
    terminate = async () => (this.isTerminated = true);
  }
  const parentPort = { on: vi.fn(), postMessage: vi.fn() };
  return { Worker: FakeThread, parentPort, workerData: undefined as unknown };
});
vi.mock("node:worker_threads", () => ({
  Worker: threads.Worker,
  parentPort: threads.parentPort,
  get workerData() {
    return threads.workerData;
  },
}));
const loadThrough = vi.hoisted(() => vi.fn(async () => "a model"));
vi.mock("../../web/src/client/load-model.js", async (original) => ({
  ...(await original<object>()),
  loadThrough,
}));
const lastThread = () => threads.Worker.all.at(-1) as InstanceType<typeof threads.Worker>;

const { startThread } = await import("../../web/src/node/start-thread.js");
const { ThreadAsWorker } = await import("../../web/src/node/thread-as-worker.js");

const folder = mkdtempSync(join(tmpdir(), "gpt2-node-"));
afterEach(() => {
  Reflect.deleteProperty(globalThis, "onmessage");
});

const { fetchFileToo } = await import("../../web/src/node/fetch-file.js");
const other = vi.fn(async () => new Response("fetched"));
const fetchFile = fetchFileToo(other);
const address = (name: string) => pathToFileURL(join(folder, name));
mkdirSync(join(folder, "sub"));
for (const name of ["a.json", "b.js", "c"]) writeFileSync(join(folder, name), `of ${name}`);
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ["a.json", "application/json", 9],
  ["b.js", "text/javascript", 7],
  ["c", "application/octet-stream", 4],
])("fetch reads %s as %s", async (name, type, size) => {
  const response = await fetchFile(address(name));
  expect([response.status, await response.text()]).toEqual([200, `of ${name}`]);
  const headers = { "content-type": type, "content-length": String(size) };
  expect(Object.fromEntries(response.headers)).toEqual(headers);
  expect(await (await fetchFile(new Request(address(name)))).text()).toBe(`of ${name}`);
  expect(other).not.toHaveBeenCalled();
});

it("fetch reads the rest of a file", async () => {
  const rest = await fetchFile(address("c"), { headers: { Range: "bytes=3-" } });
  expect([rest.status, await rest.text(), rest.headers.get("content-range")]).toEqual([
    206,
    "c",
    "bytes 3-3/4",
  ]);
  const whole = await fetchFile(address("c"), { headers: { Range: "bytes=4-" } });
  expect([whole.status, await whole.text()]).toEqual([200, "of c"]);
});

it.each(["none", "sub", "c/below"])("fetch reports the missing file %s", async (name) => {
  const response = await fetchFile(address(name).href);
  expect([response.status, response.statusText]).toEqual([404, "no such file"]);
});

it("fetch reports other errors, and does not read a file after an abort", async () => {
  await expect(fetchFile(address("x".repeat(300)))).rejects.toMatchObject({ code: "ENAMETOOLONG" });
  const reason = new Error("enough");
  await expect(fetchFile(address("c"), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const early = new AbortController();
  const asked = fetchFile(address("c"), { signal: early.signal });
  early.abort(reason); // while the file is looked up
  await expect(asked).rejects.toBe(reason);
  const controller = new AbortController();
  const response = await fetchFile(address("c"), { signal: controller.signal });
  controller.abort();
  await expect(response.text()).rejects.toThrow();
});

it("fetch passes other addresses to the original fetch", async () => {
  const init = { method: "POST" };
  expect(await (await fetchFile("https://h.example/x", init)).text()).toBe("fetched");
  expect(other).toHaveBeenCalledWith("https://h.example/x", init);
  await fetchFile("https://h.example/x");
  expect(other).toHaveBeenLastCalledWith("https://h.example/x", {});
});

const portOf = (connection: Connection) => (connection as unknown as { worker: WorkerPort }).worker;
const start = (baseUrl?: string) => ({ connection: startThread(baseUrl), thread: lastThread() });

it("the engine's thread runs the script beside the module or in the given folder, without the program's options", () => {
  expect(start().thread.address.href).toMatch(/\/gpt2-node-worker\.js$/);
  const { thread } = start("file:///app/gpt2/");
  expect(thread.address.href).toBe("file:///app/gpt2/gpt2-node-worker.js");
  expect(thread.options).toEqual({ execArgv: [] });
});

it("the engine's thread keeps the process alive while an answer is awaited", () => {
  const { connection, thread } = start();
  const port = portOf(connection);
  const heard: unknown[] = [];
  port.onmessage = ({ data }) => heard.push(data);
  const send = (message: object, ...transfer: object[]) =>
    port.postMessage(message as never, ...(transfer as []));
  const hear = (message: object) => thread.emit("message", message);
  const request = (id: number) => ({ type: "request", id, name: "summary" });
  const ofTwo = { type: "request", id: 3, name: "generate", args: { ahead: 2 } };
  const writes = { type: "event", id: 3, event: { tokens: [{}] } };
  expect(thread.isReferenced).toBe(false);
  const steps: [() => void, boolean][] = [
    [() => send(request(1)), true],
    [() => send(request(2), ["moved"]), true],
    [() => hear({ type: "tokens", id: 1 }), true],
    [() => hear({ type: "done", id: 1 }), true],
    [() => hear({ type: "failed", id: 2 }), false],
    [() => send(ofTwo), true],
    [() => hear(writes), true],
    [() => hear(writes), false], // it waits for its reader
    [() => send({ type: "read", id: 3, tokens: 1 }), true],
    [() => hear({ type: "done", id: 3 }), false],
    [() => send({ type: "read", id: 3, tokens: 1 }), false],
    [() => send(request(4)), true],
    [() => send({ type: "credit", id: 4 }), true],
    [() => send({ type: "cancel", id: 4 }), false],
  ];
  for (const [i, [step, isReferenced]] of steps.entries()) {
    step();
    expect(thread.isReferenced, `after step ${i}`).toBe(isReferenced);
  }
  expect(thread.posted.slice(0, 2)).toEqual([
    [request(1), []],
    [request(2), ["moved"]],
  ]);
  expect(heard).toHaveLength(6);
});

it("the engine's thread reports its end like a worker, and ends with it", () => {
  const { connection, thread } = start();
  const port = portOf(connection);
  const onerror = (port.onerror = vi.fn());
  const onmessageerror = (port.onmessageerror = vi.fn());
  thread.emit("error", new Error("it broke"));
  const message = expect.stringMatching(/does not start \(Error: it broke\).* mark "gpt2-wasm" as external/);
  const error = expect.objectContaining({ code: "unsupported", message });
  expect(onerror).toHaveBeenCalledWith({ message: "Error: it broke", error });
  thread.emit("messageerror", "what");
  expect(onmessageerror).toHaveBeenCalledWith({ data: "what" });
  expect(thread.isTerminated).toBe(false);
  port.terminate();
  expect(thread.isTerminated).toBe(true);
  port.onmessage = port.onerror = port.onmessageerror = null;
  for (const type of ["message", "error", "messageerror"]) thread.emit(type, { type });
});

const startWithin = (...more: [] | [WorkerOptions]) => {
  const worker = new ThreadAsWorker(new URL("file:///engine.js"), ...more);
  return { worker, thread: lastThread() };
};

it("a worker within the engine's thread is a thread with the same script, which does not keep the process alive", () => {
  const { worker, thread } = startWithin({ name: "gpt2-thread" });
  expect(thread.address.href).toMatch(/\/gpt2-node-worker\.js$/);
  const workerData = { script: "file:///engine.js", name: "gpt2-thread" };
  expect(thread.options).toEqual({ workerData, execArgv: [] });
  expect(startWithin().thread.options).toMatchObject({ workerData: { name: "" } });
  expect(thread.isReferenced).toBe(false);
  const code = { memory: 1 };
  worker.postMessage(code);
  expect(thread.posted).toEqual([[code]]);
});

it("a worker within the engine's thread reports its error to its listeners", () => {
  const { worker, thread } = startWithin();
  thread.emit("error", new Error("nobody listens"));
  const onError = vi.fn<(event: Event) => void>();
  worker.addEventListener("error", onError);
  thread.emit("error", new Error("it broke"));
  expect(onError).toHaveBeenCalledTimes(1);
  expect(onError.mock.calls[0]?.[0]).toMatchObject({ message: "Error: it broke", cancelable: true });
});

const names =
  "self name origin location isSecureContext crossOriginIsolated fetch postMessage close Worker seen";
const seen = () => (globalThis as { seen?: Record<string, unknown> }).seen ?? {};
/** Runs worker.ts, which makes a worker's scope of this one, as often as a test is run. */
async function run(workerData: unknown, navigator: unknown = { hardwareConcurrency: 99 }) {
  threads.workerData = workerData;
  for (const mock of [threads.parentPort.on, threads.parentPort.postMessage]) mock.mockReset();
  for (const name of names.split(" ")) vi.stubGlobal(name, Reflect.get(globalThis, name));
  vi.stubGlobal("navigator", navigator);
  vi.resetModules();
  await import("../../web/src/node/worker.js");
}
const script = `data:text/javascript,${encodeURIComponent(
  `globalThis.seen = { self, name, origin, href: location.href, isSecureContext, crossOriginIsolated, Worker };`,
)}`;

it("the script of a thread sees the scope of a worker", async () => {
  await run({ script, name: "gpt2-thread" });
  const { ThreadAsWorker } = await import("../../web/src/node/thread-as-worker.js");
  expect(seen()).toEqual({
    self: globalThis,
    name: "gpt2-thread",
    origin: "null",
    href: script,
    isSecureContext: true,
    crossOriginIsolated: true,
    Worker: ThreadAsWorker,
  });
  expect(navigator.hardwareConcurrency).toBe(99);
  postMessage("up", ["memory"] as never);
  postMessage("plain");
  expect(threads.parentPort.postMessage.mock.calls).toEqual([
    ["up", ["memory"]],
    ["plain", []],
  ]);
  const exit = vi.spyOn(process, "exit").mockImplementation((() => {}) as never);
  close();
  expect(exit).toHaveBeenCalledTimes(1);
  writeFileSync(join(tmpdir(), "gpt2-node.json"), "{}");
  expect(await (await fetch(pathToFileURL(join(tmpdir(), "gpt2-node.json")))).json()).toEqual({});
});

it("Node.js does not warn of a leak if many files of a load listen to one signal", async () => {
  await run({ script, name: "" });
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const { signal } = new AbortController();
  for (let file = 0; file < 20; ++file) signal.addEventListener("abort", () => {});
  expect(warn).not.toHaveBeenCalled();
  setMaxListeners(10); // the default
});

it("the script of a thread receives messages once it listens, whichever listener is added last", async () => {
  await run({ script, name: "" });
  expect(threads.parentPort.on).not.toHaveBeenCalled();
  const scope = globalThis as unknown as { onmessage: ((event: unknown) => void) | null };
  const [first, second] = [vi.fn(), vi.fn()];
  scope.onmessage = first;
  expect(scope.onmessage).toBe(first);
  expect(threads.parentPort.on).toHaveBeenCalledWith("message", expect.any(Function));
  const hear = threads.parentPort.on.mock.calls[0]?.[1] as (data: unknown) => void;
  hear("one");
  scope.onmessage = second;
  hear("two");
  expect(threads.parentPort.on).toHaveBeenCalledTimes(1);
  expect(first.mock.calls).toEqual([[{ data: "one" }]]);
  expect(second.mock.calls).toEqual([[{ data: "two" }]]);
});

it("by default the script is the engine's worker; without a navigator, it counts the processors", async () => {
  await expect(run(undefined, null)).rejects.toThrow(/gpt2-worker\.js/);
  expect((globalThis as { name?: string }).name).toBe("gpt2");
  expect(navigator.hardwareConcurrency).toBeGreaterThan(0);
});

const asked = async (...call: Parameters<typeof import("../../web/src/node/index.js").loadModel>) => {
  const { loadModel } = await import("../../web/src/node/index.js");
  expect(await loadModel(...call)).toBe("a model");
  const [start, source, options] = (loadThrough.mock.lastCall ?? []) as unknown as unknown[];
  const current = await import("../../web/src/node/start-thread.js"); // modules are loaded again by some tests
  expect(start).toBe(current.startThread);
  return [source, options];
};
const fileUrl = (path: string) => pathToFileURL(resolve(path)).href;

const addresses = ["https://h.example/m/", "hf:a/b", "blob:x", "x+y.z-1:w"];
const ids = ["models/gpt2", "a-b.c/d_e.f@v1.0", "a/b@x:y"];
const paths = ["a/b@", "a/b/c", "gpt2", "./a/b", "-a/b", "a/-b", "1:x", "C:x", "a/b@c d"];
it.each([
  ...addresses.map((address) => [address, "an address", address] as const),
  ...ids.map((id) => [id, "a Hub id", `hf:${id}`] as const),
  ...paths.map((path) => [path, "a path", fileUrl(path)] as const),
])("%s is read as %s", async (source, _, expected) => {
  expect(await asked(source)).toEqual([expected, {}]);
});

const file = new File([], "adapter_config.json");
it.each([
  ["./lora", fileUrl("lora")],
  ["user/lora", "hf:user/lora"],
  [
    [file, { source: "./a", weight: 2 }],
    [file, { source: fileUrl("a"), weight: 2 }],
  ],
])("the adapter %o is read as %o", async (adapter, expected) => {
  expect(await asked("hf:a/b", { adapter })).toEqual(["hf:a/b", { adapter: expected }]);
});

it("an id is read as a path if such a folder exists", async () => {
  vi.spyOn(process, "cwd").mockReturnValue(join(import.meta.dirname, "../.."));
  expect(await asked("tests/web")).toEqual([pathToFileURL(import.meta.dirname).href, {}]);
});

it("other values, and ids of the Hub, are passed on unchanged", async () => {
  const url = new URL("file:///x");
  expect(await asked(url)).toEqual([url, {}]);
  const options = { hub: "https://hub.example", adapter: "c/d" };
  expect(await asked("gpt2", options)).toEqual(["gpt2", options]);
  expect((await asked("gpt2", { hub: undefined }))[0]).toBe(fileUrl("gpt2"));
  expect((await asked("gpt2", null as never))[0]).toBe(fileUrl("gpt2"));
});

it("an old Node.js version gets an error that names the required version", async () => {
  const { loadModel } = await import("../../web/src/node/index.js");
  const versions = vi.spyOn(process, "versions", "get");
  const found = process.versions;
  versions.mockReturnValue({ ...found, node: "18.20.1" });
  await expect(loadModel("x")).rejects.toMatchObject({
    code: "unsupported",
    message: "this is Node.js 18.20.1, but 20 or newer is needed",
  });
  versions.mockReturnValue({ ...found, node: "20.0.0" });
  expect(await loadModel("x")).toBe("a model");
});
