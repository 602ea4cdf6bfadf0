// A model's files by way of the page's own `fetch`, both threads' ends in one process.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { servePageFetch } from "../../web/src/client/page-fetch.js";
import { UrlSource } from "../../web/src/model/sources/model-source.js";
import { readText } from "../../web/src/model/sources/read-text.js";
import type { FetchPort, LoadRequest } from "../../web/src/shared/protocol.js";
import { pageFetch } from "../../web/src/model/sources/page-fetch.js";

let closed: AbortController;
let ports: MessagePort[];
beforeEach(() => {
  closed = new AbortController();
  ports = [];
});
afterEach(() => {
  closed.abort();
  for (const port of ports) port.close(); // an open one keeps Node waiting
});
const never = new AbortController().signal;

/** The worker's `fetch`, by way of a page that has `fetchFile`. */
function through(fetchFile: unknown, wanted: Partial<LoadRequest> = {}): typeof fetch {
  const port = servePageFetch(fetchFile as typeof fetch, closed.signal);
  ports.push(port);
  const plain = { headers: [], credentials: undefined, redirect: undefined };
  return pageFetch(port as FetchPort, { ...plain, ...wanted });
}
const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());

/** A body of numbered chunks that counts how many were read, and records whether it was cancelled. */
function chunks(count: number) {
  const state = { taken: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (state.taken === count) return controller.close();
        controller.enqueue(Uint8Array.of(state.taken++));
      },
      cancel: () => void (state.isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  return { state, body };
}

it("the page's fetch is called with range, headers and credentials, and returns bytes, status and headers", async () => {
  const answer = { status: 206, headers: { "X-A": "1" } };
  const fetchFile = vi.fn(async (..._: Parameters<typeof fetch>) => new Response(chunks(100).body, answer));
  const wanted = { headers: [["authorization", "me"]], credentials: "include", redirect: "error" } as const;
  const ask = through(fetchFile, wanted);
  const response = await ask("http://host/m/a", { headers: { Range: "bytes=3-" }, signal: never });
  expect([response.status, response.headers.get("x-a")]).toEqual([206, "1"]);
  expect(await bytesOf(response)).toEqual(Uint8Array.from({ length: 100 }, (_, i) => i));
  await ask("http://host/m/a", { signal: never });
  const called = (headers: string[][]) => [
    "http://host/m/a",
    { ...wanted, headers, signal: expect.any(AbortSignal) as AbortSignal },
  ];
  const [token] = wanted.headers;
  expect(fetchFile.mock.calls).toEqual([called([[...token], ["Range", "bytes=3-"]]), called([[...token]])]);
});

it("the page's fetch can answer without a body", async () => {
  const answer = (status: number) => through(async () => new Response(null, { status }));
  expect((await bytesOf(await answer(204)("a"))).length).toBe(0);
  const source = new UrlSource("http://host/m/", answer(404));
  await expect(readText(source, "config.json", never)).rejects.toMatchObject({ code: "not-found" });
});

it("the page's fetch is read only a few chunks ahead", async () => {
  const { state, body } = chunks(1000);
  const ask = through(async (url: string) => new Response(url === "a" ? body : "other"));
  const reader = (await ask("a")).body?.getReader();
  for (let i = 0; i < 10; ++i) await reader?.read();
  for (let i = 0; i < 10; ++i) await (await ask("b")).text(); // time to read on
  expect(state.taken).toBeGreaterThanOrEqual(10);
  expect(state.taken).toBeLessThanOrEqual(16);
  await reader?.cancel();
  await vi.waitFor(() => expect(state.isCancelled).toBe(true));
});

it("chunks of the page's fetch remain usable for the page", async () => {
  const kept = Uint8Array.of(1, 2, 3);
  const body = new ReadableStream({ start: (to) => (to.enqueue(kept), to.close()) });
  expect(await bytesOf(await through(async () => new Response(body))("a"))).toEqual(kept);
  expect(kept.length).toBe(3);
});

it("the page's fetch is aborted before, during and at the end of the load", async () => {
  const signals: AbortSignal[] = [];
  const ask = through((_: string, { signal }: { signal: AbortSignal }) => {
    signals.push(signal);
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  await expect(ask("a", { signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  const controller = new AbortController();
  const waiting = ask("b", { signal: controller.signal });
  await vi.waitFor(() => expect(signals.length).toBe(1));
  controller.abort(new Error("during"));
  await expect(waiting).rejects.toThrow("during");
  await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true));
  void ask("c").catch(() => {});
  await vi.waitFor(() => expect(signals.length).toBe(2));
  closed.abort();
  expect(signals[1]?.aborted).toBe(true);
});

it("the page's fetch cancels the body of an aborted request", async () => {
  const { state, body } = chunks(1000);
  const controller = new AbortController();
  const response = await through(async () => new Response(body))("a", { signal: controller.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  controller.abort(new Error("enough"));
  const readAll = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(readAll()).rejects.toThrow("enough");
  await vi.waitFor(() => expect(state.isCancelled).toBe(true));
});

const hidden = 'the option fetch returned a response of type "error", expected a readable one';
const broken = () => new Response(new ReadableStream({ pull: (to) => to.error(new Error("reset")) }));
it.each<[string, () => unknown, string]>([
  ["throws", () => Promise.reject(new TypeError("signature expired")), "TypeError: signature expired"],
  ["gives no response", () => "text", 'TypeError: the option fetch returned "text", expected a Response'],
  ["gives one that says nothing", () => Response.error(), `TypeError: ${hidden}`],
  ["breaks off", broken, "the connection broke while reading config.json: Error: reset"],
])("an error names the file where the page's fetch %s", async (_, fetchFile, why) => {
  const source = new UrlSource(
    "http://host/m/",
    through(async () => fetchFile()),
  );
  await expect(readText(source, "config.json", never)).rejects.toMatchObject({
    code: "network",
    message: fetchFile === broken ? why : `cannot fetch http://host/m/config.json: ${why}`,
  });
});
