// The arguments that a page passes to loadModel, and the requests that they become.
import { beforeEach, expect, it, vi } from "vitest";
import { loadModel, loadThrough } from "../../web/src/client/load-model.js";
import { readThreadChoices, rememberThreads } from "../../web/src/client/thread-choices.js";
import type { LoadResult } from "../../web/src/shared/protocol.js";
import { connect } from "./support/fake-worker.js";
import { loadRequest } from "./support/load-request.js";

const items = new Map<string, string>();
beforeEach(() => {
  items.clear();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  });
  vi.stubGlobal("navigator", { userAgent: "Browser/1" });
  vi.stubGlobal("document", { baseURI: "http://host/page/index.html" });
});

const info = { threads: 2, notice: null } as LoadResult["info"];
const refusal = (message: string) => expect.objectContaining({ code: "invalid-argument", message });

function load(url: unknown, options?: unknown) {
  const made = connect();
  return { ...made, model: loadThrough(() => made.connection, url, options) };
}

it("loadModel sends the address, relative to the page, and every option", () => {
  const source = { kind: "folder", url: "http://host/page/models/a/m/" } as const;
  const sent = (options?: object) => load("models/a/m", options).worker.all("request")[0]?.args;
  expect(sent()).toEqual(loadRequest(source, { cache: true }));
  const options = { threads: 3, kv: "f32", variant: "simd", headers: [["a", "b"]], credentials: "include" };
  expect(sent(options)).toMatchObject(options);
});

it("loadModel reads the address of a page of the Hub as a model's id", async () => {
  const { worker } = load("https://huggingface.co/user/tale/tree/v1");
  await vi.waitFor(() =>
    expect(worker.all("request")[0]?.args).toMatchObject({
      source: { kind: "hub", id: "user/tale", revision: "v1" },
    }),
  );
});

it("loadModel resolves an address relative to a worker that has no page", () => {
  vi.stubGlobal("document", undefined);
  vi.stubGlobal("location", { href: "http://host/worker/w.js" });
  expect(load("m").worker.all("request")[0]?.args).toMatchObject({
    source: { kind: "folder", url: "http://host/worker/m/" },
  });
});

const builds = '"threads-relaxed", "threads", "simd-relaxed", "simd"';
it.each([
  [undefined, undefined, "the model is undefined, expected a folder's URL, an id on the hub, or files"],
  ["", undefined, 'the model is "", expected a folder\'s URL, an id on the hub, or files'],
  [Symbol("s"), undefined, "the model is a symbol, expected a folder's URL, an id on the hub, or files"],
  ["http://[", undefined, 'the model\'s address is "http://[", which is not a URL'],
  ["m", 3, "the options of loadModel are 3, expected an object"],
  [
    "m",
    { thread: 1 },
    'unknown option "thread" of loadModel: did you mean threads? Expected one of hub, adapter, threads, signal, onProgress, weights, kv, variant, baseUrl, headers, credentials, redirect, fetch, stallMs, cache, prompt',
  ],
  ["m", { threads: 0 }, "threads is 0, expected a whole number from 1 to 64"],
  ["m", { threads: 65 }, "threads is 65, expected a whole number from 1 to 64"],
  ["m", { stallMs: 0 }, "stallMs is 0, expected a whole number from 1 to 2147483647"],
  ["m", { kv: "q4" }, 'kv is "q4", expected one of "q8", "f32"'],
  ["m", { redirect: "manual" }, 'redirect is "manual", expected one of "follow", "error"'],
  ["m", { credentials: "all" }, 'credentials is "all", expected one of "omit", "same-origin", "include"'],
  ["m", { signal: 3 }, "signal is 3, expected an AbortSignal"],
  ["m", { onProgress: {} }, "onProgress is an object, expected a function"],
  ["m", { cache: "no" }, 'cache is "no", expected true or false'],
  ["m", { fetch: "x" }, 'fetch is "x", expected a function'],
  ["m", { variant: "fast" }, `variant is "fast", expected one of ${builds}`],
])("loadModel refuses %s, %s, and starts no worker", async (url, options, message) => {
  const start = vi.fn();
  await expect(loadThrough(start, url, options)).rejects.toEqual(refusal(message));
  expect(start).not.toHaveBeenCalled();
  await expect(loadModel(url as string, options as object)).rejects.toEqual(refusal(message));
});

it("loadModel stores the measured thread count, and reports changes to the model", async () => {
  const { worker, model } = load("m");
  worker.say({ type: "done", id: 1, result: { info: { ...info } } });
  await model;
  expect(items.size).toBe(0);
  const changed = { threads: 5, notice: null };
  worker.say({ type: "info", info: changed, threadChoice: { key: "k", threads: 5 } });
  expect((await model).info).toMatchObject(changed);
  expect(load("m").worker.all("request")[0]?.args).toMatchObject({ threadChoices: { k: { threads: 5 } } });
  worker.say({ type: "info", info: changed, threadChoice: { key: "k", threads: 0 } }); // to be measured again
  expect(load("m").worker.all("request")[0]?.args).toMatchObject({ threadChoices: {} });
  expect(readThreadChoices()).toEqual({});
  worker.say({ type: "info", info: { threads: 3, notice: "one is lost" } });
  expect((await model).info).toEqual({ threads: 3, notice: "one is lost" });
});

it("a new thread choice is added to the stored ones, of which invalid ones are ignored", () => {
  items.set("gpt2-wasm:threads", '{"browser":"Browser/1","a":{"threads":2},"c":{"threads":-1}}');
  rememberThreads({ key: "b", threads: 3 });
  rememberThreads({ key: "a", threads: 4, speed: 1e9 });
  expect(readThreadChoices()).toEqual({ a: { threads: 4, speed: 1e9 }, b: { threads: 3 } });
});

it.each([
  ...["{broken", "3", "null", "[]", '{"a":2}', '{"a":null}', '{"a":{}}'],
  ...["0", "1.5", '"2"', '2,"speed":0', '2,"speed":null', '2,"speed":"fast"'].map(
    (threads) => `{"a":{"threads":${threads}}}`,
  ),
])("stored thread choices ignore %s", (stored) => {
  items.set("gpt2-wasm:threads", stored.replace("{", '{"browser":"Browser/1",'));
  expect(readThreadChoices()).toEqual({});
});

it("another version of the browser measures thread choices again, and removes the old ones", () => {
  rememberThreads({ key: "a", threads: 2 });
  vi.stubGlobal("navigator", { userAgent: "Browser/2" });
  expect(readThreadChoices()).toEqual({});
  rememberThreads({ key: "b", threads: 3 });
  expect(readThreadChoices()).toEqual({ b: { threads: 3 } });
  vi.stubGlobal("navigator", { userAgent: "Browser/1" });
  expect(readThreadChoices()).toEqual({});
  items.set("gpt2-wasm:threads", '{"a":{"threads":1}}'); // as older pages stored it
  expect(readThreadChoices()).toEqual({});
});

it("thread choices are not stored if nothing may be stored", () => {
  vi.stubGlobal("localStorage", undefined);
  rememberThreads({ key: "a", threads: 2 });
  expect(readThreadChoices()).toEqual({});
});
