// The service workers, in a scope that is made up; tests/e2e/offline.spec.ts has them in a browser.
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeCaches } from "./support/fake-caches.js";

const here = "https://page.example/app/service-worker.js";
const notBrand = { brand: "Not A Brand", version: "99" };
const chromium = (version: string, mobile = false) => ({
  userAgent: "Mozilla/5.0 Chrome/1 Safari/1",
  userAgentData: { mobile, brands: [notBrand, { brand: "Chromium", version }] },
});
const firefox = { userAgent: "Mozilla/5.0 (X11; Linux) Gecko/20100101 Firefox/140.0" };
const androidFirefox = { userAgent: "Mozilla/5.0 (Android 14; Mobile) Gecko/140.0 Firefox/140.0" };
const safari = { userAgent: "Mozilla/5.0 (Macintosh) AppleWebKit/605 Version/18 Safari/605" };

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const served = new Map<string, () => Response>();
const fetched: Request[] = [];
const serve = (url: string, body: string, init?: ResponseInit) =>
  served.set(new URL(url, here).href, () => new Response(body, init));

class ScopeEvent extends Event {
  waits: Promise<unknown>[] = [];
  answer: Promise<Response> | undefined;
  request = new Request(here);
  data: unknown;
  ports: { postMessage: ReturnType<typeof vi.fn> }[] = [];
  waitUntil(promise: Promise<unknown>): void {
    this.waits.push(promise);
  }
  respondWith(response: Promise<Response>): void {
    this.answer = Promise.resolve(response);
  }
}

let scope: EventTarget;
const registration = { scope: new URL("./", here).href, active: null as unknown };
let caches: FakeCaches;
const claim = vi.fn(async () => {});
const skipWaiting = vi.fn(async () => {});

beforeEach(() => {
  vi.resetModules();
  served.clear();
  fetched.length = 0;
  claim.mockReset();
  skipWaiting.mockReset();
  caches = new FakeCaches();
  registration.active = null;
  const own = { location: new URL(here), registration, clients: { claim }, skipWaiting, caches };
  scope = Object.assign(new EventTarget(), own);
  vi.stubGlobal("self", scope);
  vi.stubGlobal("registration", registration);
  vi.stubGlobal("location", new URL(here));
  vi.stubGlobal("caches", caches);
  vi.stubGlobal("navigator", chromium("140"));
  vi.stubGlobal("ExtendableEvent", ScopeEvent);
  vi.stubGlobal("FetchEvent", class {}); // Workbox asks whether it is given one; it is not
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input, init);
    fetched.push(request);
    const answer = served.get(request.url.replace(/[?#].*/, ""));
    if (!answer) throw new TypeError(`${request.url} cannot be reached`);
    return answer();
  });
});

/** Dispatches an event in the scope, and waits for the answer and all promises of `waitUntil`. */
async function dispatch(type: string, more: Partial<ScopeEvent> = {}): Promise<ScopeEvent> {
  const event = Object.assign(new ScopeEvent(type), more);
  scope.dispatchEvent(event);
  await event.answer?.catch(() => {});
  await Promise.all(event.waits);
  return event;
}

/** A request as the browser makes it. The constructor accepts neither a destination nor the mode "navigate". */
function requestOf(url: string, { destination = "", mode = "cors", method = "GET" } = {}): Request {
  const request = new Request(new URL(url, here), { method });
  Object.defineProperties(request, { destination: { value: destination }, mode: { value: mode } });
  return request;
}

const ask = async (url: string, more?: Parameters<typeof requestOf>[1]) =>
  (await dispatch("fetch", { request: requestOf(url, more) })).answer;

const load = () => import("../../web/src/service-worker/isolate.js");
const own = "document-isolation-policy";
const embedder = "cross-origin-embedder-policy";
const forAll = (policy: string) => ({ "cross-origin-opener-policy": "same-origin", [embedder]: policy });

it.each([
  ["a new Chromium", chromium("137"), { [own]: "isolate-and-credentialless" }],
  ["Chromium on a phone", chromium("137", true), forAll("credentialless")],
  ["an older Chromium", chromium("136"), forAll("credentialless")],
  ["the first that may leave cookies out", chromium("96"), forAll("credentialless")],
  ["one before it", chromium("95"), forAll("require-corp")],
  ["Firefox", firefox, forAll("credentialless")],
  ["Firefox on Android", androidFirefox, forAll("require-corp")],
  ["Safari", safari, forAll("require-corp")],
])("%s gets isolation in the mildest way that it supports", async (_, navigator, expected) => {
  vi.stubGlobal("navigator", navigator);
  const { isolate } = await load();
  const init = { status: 203, statusText: "so so", headers: { "X-Own": "1" } };
  const response = isolate(new Response("body", init));
  const unchanged = { "content-type": "text/plain;charset=UTF-8", "x-own": "1" };
  expect(Object.fromEntries(response.headers)).toEqual({ ...unchanged, ...expected });
  expect([response.status, response.statusText, await response.text()]).toEqual([203, "so so", "body"]);
});

it("isolation does not change answers that the host already isolates, or that cannot be rebuilt", async () => {
  const { isolate } = await load();
  for (const name of [own, embedder]) {
    const response = new Response("", { headers: { [name]: "x" } });
    expect(isolate(response)).toBe(response);
  }
  const opaque = Response.error();
  expect(isolate(opaque)).toBe(opaque);
});

it("pictures and ranges of other hosts are requested without credentials if else nothing would be shown", async () => {
  vi.stubGlobal("navigator", safari);
  const { fetchShared } = await load();
  const url = "https://other.example/film.mp4";
  serve(url, "film");
  const film = (range: HeadersInit = {}) => {
    const request = requestOf(url, { mode: "no-cors" });
    for (const [name, value] of new Headers(range)) request.headers.set(name, value);
    return request;
  };
  expect(await (await fetchShared(film()))?.text()).toBe("film");
  await fetchShared(film({ range: "bytes=100-" }));
  expect(fetched.map(({ mode, credentials, headers }) => [mode, credentials, headers.get("range")])).toEqual([
    ["cors", "omit", null],
    ["cors", "omit", "bytes=100-"],
  ]);
  expect(fetched[0]?.url).toBe(url);
  expect(fetchShared(requestOf("picture.png", { mode: "no-cors" }))).toBeUndefined();
  expect(fetchShared(requestOf(url, { mode: "cors" }))).toBeUndefined();
  expect(fetchShared(requestOf(url, { mode: "no-cors", method: "POST" }))).toBeUndefined();
  vi.stubGlobal("navigator", firefox);
  expect(fetchShared(film())).toBeUndefined();
});

it("answers of hosts that share nothing are passed on", async () => {
  vi.stubGlobal("navigator", safari);
  const { fetchShared } = await load();
  const picture = requestOf("https://other.example/picture.png", { mode: "no-cors" });
  const asked: unknown[] = [];
  vi.stubGlobal("fetch", async (what: unknown) => {
    asked.push(what);
    if (asked.length === 1) throw new TypeError("not shared");
    return new Response("as it is");
  });
  expect(await (await fetchShared(picture))?.text()).toBe("as it is");
  expect(asked[1]).toBe(picture);
});

describe("isolate.js", () => {
  beforeEach(() => import("../../web/src/service-worker/isolate-only.js"));

  it("isolate.js is active at once, also for open pages", async () => {
    await dispatch("install");
    expect(skipWaiting).toHaveBeenCalledTimes(1);
    await dispatch("activate");
    expect(claim).toHaveBeenCalledTimes(1);
  });

  const destinations = ["document", "iframe", "frame", "worker", "sharedworker"];
  it.each(destinations)("isolate.js isolates each %s", async (destination) => {
    serve("x", "it");
    const answer = await ask("x", { destination });
    expect(answer?.headers.get("Document-Isolation-Policy")).toBe("isolate-and-credentialless");
  });

  it("isolate.js leaves other requests to the browser, except those that isolation would block", async () => {
    const picture = ["https://other.example/p", { destination: "image", mode: "no-cors" }] as const;
    expect(await ask(...picture)).toBeUndefined();
    vi.stubGlobal("navigator", safari);
    serve("https://other.example/p", "picture");
    expect(await (await ask(...picture))?.text()).toBe("picture");
    expect(await ask("x", { destination: "script" })).toBeUndefined();
  });
});

const page = "<title>page</title>";
const release = {
  app: [
    { url: "./", revision: hash(page) },
    { url: "app.js", revision: hash("app") },
  ],
  model: [{ url: "model/weights", revision: hash("weights") }],
};
const serveRelease = () => {
  serve("./", page);
  serve("app.js", "app");
  serve("model/weights", "weights");
};
const start = async () => {
  vi.stubGlobal("release", release);
  await import("../../web/src/service-worker/service-worker.js");
};
const kept = () =>
  Object.fromEntries(
    [...caches.all].map(([name, { entries }]) => [
      /model$/.test(name) ? "model" : "app",
      [...entries.keys()].map((url) => url.slice(new URL("./", here).href.length)),
    ]),
  );
const keep = async (model: boolean) => {
  const port = { postMessage: vi.fn() };
  await dispatch("message", { data: { type: "keep", model }, ports: [port] });
  return port.postMessage.mock.calls.flat() as unknown[];
};
const becomesActive = () => (registration.active = {});

it("the first release takes over at once, and stores what the page loads through it", async () => {
  await start();
  serveRelease();
  await dispatch("install");
  expect(skipWaiting).toHaveBeenCalledTimes(1);
  expect(fetched).toEqual([]);
  await dispatch("activate");
  expect(claim).toHaveBeenCalledTimes(1);
  const response = await ask("./?from=mail#top", { destination: "document" });
  expect(await response?.text()).toBe(page);
  expect(response?.headers.get("Document-Isolation-Policy")).toBe("isolate-and-credentialless");
  expect(await (await ask("app.js", { destination: "script" }))?.text()).toBe("app");
  served.clear(); // no network any more
  expect(await (await ask("index.html", { destination: "document" }))?.text()).toBe(page);
  const script = await ask("app.js?x", { destination: "script" });
  expect(await script?.text()).toBe("app");
  expect(script?.headers.has("Document-Isolation-Policy")).toBe(false);
  const keys = [`?__WB_REVISION__=${hash(page)}`, `app.js?__WB_REVISION__=${hash("app")}`];
  expect(kept()["app"]?.sort()).toEqual(keys);
});

it("a file of another release is served but not stored", async () => {
  await start();
  serve("app.js", "of the next release");
  expect(await (await ask("app.js"))?.text()).toBe("of the next release");
  serve("app.js", "app", { status: 203 });
  expect((await ask("app.js"))?.status).toBe(203);
  expect(kept()["app"] ?? []).toEqual([]);
  served.clear();
  await expect(ask("app.js")).rejects.toThrow();
});

it.each<[string, (bytes: Uint8Array) => Uint8Array<ArrayBuffer>]>([
  ["a bit that flipped", (bytes) => bytes.map((byte, place) => (place === 1 ? byte ^ 1 : byte))],
  ["a missing end", (bytes) => bytes.slice(0, 2)],
  ["no bytes", () => new Uint8Array()],
])("a damaged stored file is never served, and is replaced: %s", async (_, change) => {
  await start();
  serveRelease();
  await keep(true);
  for (const { entries } of caches.all.values())
    for (const entry of entries.values()) entry.bytes = change(new Uint8Array(entry.bytes)).buffer;
  const files = { "model/weights": "weights", "app.js?release=x": "app" };
  served.clear(); // offline
  for (const url of Object.keys(files)) await expect(ask(url)).rejects.toThrow();
  serveRelease();
  for (const [url, text] of Object.entries(files)) expect(await (await ask(url))?.text()).toBe(text);
  await keep(true);
  served.clear();
  for (const [url, text] of Object.entries(files)) expect(await (await ask(url))?.text()).toBe(text);
});

it.each([
  ["fails", () => Promise.reject(new Error("Unexpected internal error."))],
  ["never answers", () => new Promise<never>(() => {})],
])("answers come from the host if Cache Storage %s", async (_, match) => {
  await start();
  serveRelease();
  await keep(true);
  vi.spyOn(caches, "match").mockImplementation(match);
  vi.useFakeTimers();
  const answer = ask("app.js");
  await vi.runAllTimersAsync();
  vi.useRealTimers();
  expect(await (await answer)?.text()).toBe("app");
});

it("requests outside the release are left to the browser", async () => {
  await start();
  expect(await ask("other.js", { destination: "script" })).toBeUndefined();
  expect(await ask("app.js", { method: "POST" })).toBeUndefined();
  serve("other", "frame");
  const frame = await ask("other", { destination: "iframe" });
  expect(frame?.headers.has("Document-Isolation-Policy")).toBe(true);
  vi.stubGlobal("navigator", safari);
  serve("https://other.example/p", "picture");
  const shared = await ask("https://other.example/p", { destination: "image", mode: "no-cors" });
  expect(await shared?.text()).toBe("picture");
});

it("the remaining files are stored when the page asks, and the answer says whether all are stored", async () => {
  await start();
  serveRelease();
  expect(await keep(false)).toEqual([true]);
  expect(Object.keys(kept())).toEqual(["app"]);
  expect(fetched.every(({ cache }) => cache === "no-cache")).toBe(true);
  expect(await keep(true)).toEqual([true]);
  expect(kept()["model"]).toEqual([`model/weights?__WB_REVISION__=${hash("weights")}`]);
  const before = fetched.length;
  expect(await keep(true)).toEqual([true]);
  expect(fetched).toHaveLength(before);
});

it("the answer says that files are missing if one is of another release or unavailable", async () => {
  await start();
  serveRelease();
  serve("model/weights", "others");
  expect(await keep(true)).toEqual([false]);
  served.delete(new URL("model/weights", here).href);
  expect(await keep(true)).toEqual([false]);
  expect(await keep(false)).toEqual([true]);
});

it("the next release waits until all its files are stored, and its model only if the old one had it", async () => {
  await start();
  serveRelease();
  becomesActive();
  await dispatch("install");
  expect(skipWaiting).not.toHaveBeenCalled();
  expect(kept()["app"]).toHaveLength(2);
  expect(kept()["model"] ?? []).toEqual([]);
  expect(fetched.every(({ cache }) => cache === "no-cache")).toBe(true);
  const [name = ""] = caches.all.keys();
  const models = await caches.open(`${name}-model`);
  await dispatch("install");
  expect(models.entries.size).toBe(0); // it is there, and empty
  await models.put(new URL("model/weights?__WB_REVISION__=old", here), new Response("old"));
  await dispatch("install");
  expect(kept()["model"]).toContain(`model/weights?__WB_REVISION__=${hash("weights")}`);
  await dispatch("activate");
  expect(kept()["model"]).toEqual([`model/weights?__WB_REVISION__=${hash("weights")}`]);
});

it("the next release is not installed if one of its files is wrong", async () => {
  await start();
  serveRelease();
  serve("app.js", "of another release");
  becomesActive();
  await expect(dispatch("install")).rejects.toThrow();
});

it("the service worker follows the page's messages", async () => {
  await start();
  await dispatch("message", { data: { type: "take-over" } });
  expect(skipWaiting).toHaveBeenCalledTimes(1);
  await dispatch("message", { data: { type: "claim" } });
  expect(claim).toHaveBeenCalledTimes(1);
  claim.mockRejectedValueOnce(new Error("not active yet"));
  await dispatch("message", { data: { type: "claim" } });
  expect(claim).toHaveBeenCalledTimes(2);
});
