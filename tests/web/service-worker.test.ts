// The service workers, in a scope that is made up; tests/e2e/offline.spec.ts has them in a browser.
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeCaches } from "./support/fake-caches.js";

const here = "https://page.example/app/service-worker.js";
const chromium = (version: string, mobile = false) => ({
  userAgent: "Mozilla/5.0 Chrome/1 Safari/1",
  userAgentData: {
    mobile,
    brands: [
      { brand: "Not A Brand", version: "99" },
      { brand: "Chromium", version },
    ],
  },
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
  scope = Object.assign(new EventTarget(), {
    location: new URL(here),
    registration,
    clients: { claim },
    skipWaiting,
    caches,
  });
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
  return () => vi.unstubAllGlobals();
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

describe("isolation", () => {
  const load = () => import("../../web/src/service-worker/isolate.js");
  const own = "Document-Isolation-Policy";
  const opener = "Cross-Origin-Opener-Policy";
  const embedder = "Cross-Origin-Embedder-Policy";

  it.each([
    ["a new Chromium", chromium("137"), { [own]: "isolate-and-credentialless" }],
    ["Chromium on a phone", chromium("137", true), { [opener]: "same-origin", [embedder]: "credentialless" }],
    ["an older Chromium", chromium("136"), { [opener]: "same-origin", [embedder]: "credentialless" }],
    [
      "the first that may leave cookies out",
      chromium("96"),
      { [opener]: "same-origin", [embedder]: "credentialless" },
    ],
    ["one before it", chromium("95"), { [opener]: "same-origin", [embedder]: "require-corp" }],
    ["Firefox", firefox, { [opener]: "same-origin", [embedder]: "credentialless" }],
    ["Firefox on Android", androidFirefox, { [opener]: "same-origin", [embedder]: "require-corp" }],
    ["Safari", safari, { [opener]: "same-origin", [embedder]: "require-corp" }],
  ])("%s gets isolation in the mildest way that it supports", async (_, navigator, expected) => {
    vi.stubGlobal("navigator", navigator);
    const { isolate } = await load();
    const response = isolate(
      new Response("body", { status: 203, statusText: "so so", headers: { "X-Own": "1" } }),
    );
    expect(Object.fromEntries(response.headers)).toEqual({
      "content-type": "text/plain;charset=UTF-8",
      "x-own": "1",
      ...Object.fromEntries(Object.entries(expected).map(([name, value]) => [name.toLowerCase(), value])),
    });
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

  it("requests to other hosts are made without credentials if nothing else would be shown", async () => {
    vi.stubGlobal("navigator", safari);
    const { fetchShared } = await load();
    serve("https://other.example/picture.png", "picture");
    const picture = requestOf("https://other.example/picture.png", { mode: "no-cors" });
    expect(await (await fetchShared(picture))?.text()).toBe("picture");
    expect(fetched.map(({ url, mode, credentials }) => [url, mode, credentials])).toEqual([
      ["https://other.example/picture.png", "cors", "omit"],
    ]);
    expect(fetchShared(requestOf("picture.png", { mode: "no-cors" }))).toBeUndefined();
    expect(fetchShared(requestOf("https://other.example/x", { mode: "cors" }))).toBeUndefined();
    expect(
      fetchShared(requestOf("https://other.example/x", { mode: "no-cors", method: "POST" })),
    ).toBeUndefined();
    vi.stubGlobal("navigator", firefox);
    expect(fetchShared(picture)).toBeUndefined();
  });

  it("a range request for a video of another host stays a range request", async () => {
    vi.stubGlobal("navigator", safari);
    const { fetchShared } = await load();
    serve("https://other.example/film.mp4", "film");
    const film = requestOf("https://other.example/film.mp4", { mode: "no-cors" });
    film.headers.set("Range", "bytes=100-");
    await fetchShared(film);
    expect(fetched.map(({ headers }) => headers.get("range"))).toEqual(["bytes=100-"]);
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
});

describe("isolate.js", () => {
  beforeEach(() => import("../../web/src/service-worker/isolate-only.js"));

  it("isolate.js is active at once, also for open pages", async () => {
    await dispatch("install");
    expect(skipWaiting).toHaveBeenCalledTimes(1);
    await dispatch("activate");
    expect(claim).toHaveBeenCalledTimes(1);
  });

  it.each(["document", "iframe", "frame", "worker", "sharedworker"])(
    "isolate.js isolates each %s",
    async (destination) => {
      serve("x", "it");
      const { answer } = await dispatch("fetch", { request: requestOf("x", { destination }) });
      expect((await answer)?.headers.get("Document-Isolation-Policy")).toBe("isolate-and-credentialless");
    },
  );

  it("isolate.js leaves other requests to the browser, except those that isolation would block", async () => {
    const quiet = {
      request: requestOf("https://other.example/p", { destination: "image", mode: "no-cors" }),
    };
    expect((await dispatch("fetch", quiet)).answer).toBeUndefined();
    vi.stubGlobal("navigator", safari);
    serve("https://other.example/p", "picture");
    const { answer } = await dispatch("fetch", quiet);
    expect(await (await answer)?.text()).toBe("picture");
    expect(
      (await dispatch("fetch", { request: requestOf("x", { destination: "script" }) })).answer,
    ).toBeUndefined();
  });
});

describe("the page's service worker", () => {
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
  const ask = async (url: string, more?: Parameters<typeof requestOf>[1]) => {
    const { answer } = await dispatch("fetch", { request: requestOf(url, more) });
    return answer;
  };
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
    expect(kept()["app"]?.sort()).toEqual([
      `?__WB_REVISION__=${hash(page)}`,
      `app.js?__WB_REVISION__=${hash("app")}`,
    ]);
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

  const damage = async (change: (bytes: Uint8Array) => Uint8Array<ArrayBuffer>) => {
    for (const { entries } of caches.all.values()) {
      for (const entry of entries.values()) entry.bytes = change(new Uint8Array(entry.bytes)).buffer;
    }
  };
  const damages: [string, (bytes: Uint8Array) => Uint8Array<ArrayBuffer>][] = [
    ["a bit that flipped", (bytes) => bytes.map((byte, place) => (place === 1 ? byte ^ 1 : byte))],
    ["a missing end", (bytes) => bytes.slice(0, 2)],
    ["no bytes", () => new Uint8Array()],
  ];

  it.each(damages)("a damaged stored file is replaced: %s", async (_, change) => {
    await start();
    serveRelease();
    await keep(true);
    await damage(change);
    for (const [url, text] of [
      ["model/weights", "weights"],
      ["app.js?release=x", "app"],
    ] as const) {
      expect(await (await ask(url))?.text()).toBe(text);
    }
    await keep(true);
    served.clear(); // offline
    expect(await (await ask("model/weights"))?.text()).toBe("weights");
    expect(await (await ask("app.js"))?.text()).toBe("app");
  });

  it("a damaged file is never served, not even offline", async () => {
    await start();
    serveRelease();
    await keep(true);
    await damage((bytes) => bytes.slice(1));
    served.clear();
    await expect(ask("model/weights")).rejects.toThrow();
    await expect(ask("app.js")).rejects.toThrow();
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
    expect((await ask("other", { destination: "iframe" }))?.headers.has("Document-Isolation-Policy")).toBe(
      true,
    );
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
});
