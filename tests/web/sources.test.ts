// The worker's side of models on hubs and in files.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { bytesOf } from "../../web/src/model/store/store.js";
import { headersFetch } from "../../web/src/model/sources/headers-fetch.js";
import type { ModelSource } from "../../web/src/model/sources/model-source.js";
import { readText } from "../../web/src/model/sources/read-text.js";
import type { FilesRequest, HubRequest, LoadRequest, SourceRequest } from "../../web/src/shared/protocol.js";
import { FilesSource } from "../../web/src/model/sources/files-source.js";
import { HubSource } from "../../web/src/model/sources/hub-source.js";
import { openSource } from "../../web/src/model/sources/open-source.js";
import { commit, StandInHub } from "../weights_tools/stand-in-hub.js";
import { loadRequest } from "./support/load-request.js";

const { signal } = new AbortController();
const patience = { stallMs: 5000, onRetry: () => {} };

const headers = [["authorization", "Bearer t"]] as const;

/** The files as they are published. */
function open(source: HubRequest | FilesRequest): ModelSource {
  if (source.kind === "files") return new FilesSource(source);
  const ask = headersFetch({ headers, credentials: undefined, redirect: undefined }, source.hub);
  return new HubSource(source, ask, patience);
}

/** The source that the worker opens for a load of `source`. */
const opened = (source: SourceRequest, more: Partial<LoadRequest> = {}, until = signal) =>
  openSource(loadRequest(source, { headers, ...more }), { patience, signal: until });

const store = "../../web/src/model/store/index.js";
const haveStored = (...models: object[]) => vi.doMock(store, () => ({ listModels: async () => models }));
afterEach(() => {
  vi.doUnmock(store);
});

describe("a hub", () => {
  let hub: StandInHub;
  let origin: string;
  beforeEach(async () => {
    hub = new StandInHub();
    hub.files = { "config.json": Buffer.from("{}"), "model.safetensors": Buffer.from("weights") };
    origin = await hub.start();
  });
  afterEach(() => hub.stop());

  const request = (revision = "main") =>
    ({ kind: "hub", hub: `${origin}/`, id: "user/tale", revision }) as const;

  it("a hub returns small and large files, with the page's headers", async () => {
    const source = open(request());
    expect(await readText(source, "config.json", signal)).toBe("{}");
    expect(await readText(source, "model.safetensors", signal)).toBe("weights");
    expect(hub.asked.map(({ host, path, token }) => [host, path, token])).toEqual([
      ["hub", "/user/tale/resolve/main/config.json", "Bearer t"],
      ["hub", `/user/tale/resolve/${commit}/model.safetensors`, "Bearer t"],
      ["store", "/model.safetensors", undefined], // the token is not sent to the store
    ]);
  });

  it("a hub states its version and its files, and no files if it does not list them", async () => {
    const source = open(request());
    expect(source.id).toBe(`${origin}/user/tale@main`);
    expect(open({ ...request("v1"), hub: "https://huggingface.co/" }).id).toBe("hf:user/tale@v1"); // the default
    expect(await source.version?.(signal)).toBe(commit);
    expect(await source.list?.(signal)).toEqual(["config.json", "model.safetensors"]);
    hub.status = 500;
    expect(await source.list?.(signal)).toBeUndefined();
    expect(await source.version?.(signal)).toBeUndefined();
  });

  it("version and files are requested for the pinned commit, whatever the branch contains later", async () => {
    hub.revisions.push("a/b");
    const source = open(request("a/b"));
    await source.version?.(signal);
    await readText(source, "config.json", signal);
    await source.list?.(signal);
    expect(hub.asked.map(({ path }) => path)).toEqual([
      "/api/models/user/tale/revision/a%2Fb",
      "/user/tale/resolve/a%2Fb/config.json",
      `/api/models/user/tale/revision/${commit}`,
    ]);
  });

  it("a Hub model that changes during the load must be loaded again", async () => {
    const source = open(request("v1"));
    await readText(source, "config.json", signal);
    hub.commit = "0".repeat(40);
    await expect(readText(source, "config.json", signal)).rejects.toMatchObject({
      code: "network",
      message: "user/tale@v1 changed on the hub while it was loading: load it again",
    });
  });

  it("the hub is asked again if its signed address has expired", async () => {
    hub.usesOfAddress = 0;
    const reading = readText(open(request()), "model.safetensors", signal);
    await vi.waitFor(() => expect(hub.asked).toHaveLength(2));
    hub.usesOfAddress = 1;
    expect(await reading).toBe("weights");
    expect(hub.asked.map(({ host }) => host)).toEqual(["hub", "store", "hub", "store"]);
  });

  const token = 'pass an access token, as in headers: { Authorization: "Bearer hf_…" }';
  const noModel = `there is no model of this name, or it is private: check the name, or ${token}`;
  const busy = `the hub received too many requests from your network: try again later, or ${token}`;
  const conditions = `accept its owner's conditions at http://HOST/user/tale, then ${token}`;
  it.each([
    [401, undefined, "network", noModel],
    [401, "GatedRepo", "network", conditions],
    [403, undefined, "network", conditions],
    [403, "Blocked", "network", "for config.json it answered 403"],
    [404, "RevisionNotFound", "not-found", 'it has no revision "v1"'],
    [404, "RepoNotFound", "not-found", "there is no model of this name"],
    [404, "EntryNotFound", "not-found", "it has no config.json"],
    [429, undefined, "network", busy],
    [451, undefined, "network", "for config.json it answered 451"],
  ])("the hub's answer %i with %s is explained", async (status, errorCode, code, reason) => {
    Object.assign(hub, { status, errorCode, retryAfter: "0" });
    const { host } = new URL(origin);
    await expect(readText(open(request("v1")), "config.json", signal)).rejects.toMatchObject({
      name: "LoadError",
      code,
      message: `cannot load user/tale@v1 from ${host}: ${reason.replace("HOST", host)}`,
    });
  });

  it("the error names both the Hub model and the missing folder", async () => {
    hub.status = 404;
    hub.errorCode = "RepoNotFound";
    const source = open({ ...request(), insteadOf: "http://host/user/tale/" });
    await expect(readText(source, "config.json", signal)).rejects.toMatchObject({
      code: "not-found",
      message: `cannot load user/tale from ${new URL(origin).host}: there is no model of this name; there is no folder http://host/user/tale/ either`,
    });
  });
});

const orHub = { kind: "hub", hub: "http://hub/", id: "user/tale", revision: "main" } as const;
describe("a name that may be a folder's or an id", () => {
  const either = { kind: "folder", url: "http://host/user/tale/", orHub } as const;

  const missing = { id: "http://hub/user/tale@main", files: "http://hub/user/tale/resolve/main/" };
  const there = { id: either.url, files: either.url };
  it.each([
    [() => new Response("{}"), there],
    [() => new Response(null, { status: 404 }), missing],
    [() => new Response("<p>", { headers: { "Content-Type": "text/html" } }), missing],
    [() => new Response(null, { status: 401 }), there],
    [() => Promise.reject(new TypeError("no network")), there],
  ])("a name is an id if there is no such folder: %s", async (answer, { id, files }) => {
    const sent: [string, string | null][] = [];
    vi.stubGlobal("fetch", async (url: string, init?: RequestInit) => {
      sent.push([url, new Headers(init?.headers).get("authorization")]);
      return sent.length === 1 ? answer() : new Response("{}");
    });
    const source = await opened(either);
    expect(source.id).toBe(id);
    await source.open("weights.json", { signal });
    expect(sent.shift()).toEqual(["http://host/user/tale/config.json", null]);
    expect(sent).toContainEqual([`${files}weights.json`, "Bearer t"]);
    expect(new Set(sent.map(([, token]) => token))).toEqual(new Set(["Bearer t"]));
  });

  it.each([
    [true, true, "http://hub/user/tale@main"],
    [true, false, either.url], // an incomplete model is useless without a network
    [false, true, either.url],
  ])("offline, a name means the stored model: requested %s, complete %s", async (cache, isComplete, id) => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));
    const others = { id: "http://hub/user/other@main", isComplete: true };
    haveStored(others, { id: "http://hub/user/tale@main", isComplete });
    expect((await opened(either, { cache })).id).toBe(id);
  });
});

it.each([
  [["a.Q4_K.gguf", "b-q8_0.gguf", "c.gguf"], "http://hub/user/tale/b-q8_0.gguf@main"],
  [["sub/Q8_0.gguf"], "http://hub/user/tale/sub/Q8_0.gguf@main"],
  [undefined, "http://hub/user/tale/stored.Q8_0.gguf@main"], // without network
  [["a.xQ8_0.gguf", "a.Q8_0-1-of-2.gguf"], /no GGUF file of quantization Q8_0: its GGUF files are a\.xQ8_0/],
  [["config.json"], /its GGUF files are none/],
])("of the files %j, the one of the wanted quantization is the model: %s", async (names, found) => {
  const siblings = names?.map((rfilename) => ({ rfilename }));
  vi.stubGlobal("fetch", async () => {
    if (!siblings) throw new TypeError("no network");
    return Response.json({ siblings });
  });
  haveStored({ id: "http://hub/user/tale/stored.Q8_0.gguf@main", isComplete: true });
  const opening = opened({ ...orHub, quantization: "Q8_0" });
  if (typeof found === "string") expect((await opening).id).toBe(found);
  else await expect(opening).rejects.toThrow(found);
});

const request = (files: File[]) =>
  ({ kind: "files", files: files.map((file) => ({ name: file.name, file })), key: "" }) as const;

it("local files are read by their names from any offset, and the error for a missing one lists up to eight", async () => {
  const names = Array.from({ length: 9 }, (_, i) => `${i}`);
  const source = open(files(...names));
  expect(await readText(source, "8", signal)).toBe("{}");
  expect((await source.open("8", { signal })).size).toBe(2);
  const { size, stream } = await source.open("8", { signal, from: 1 });
  expect([size, String.fromCharCode(...(await bytesOf(stream)))]).toEqual([undefined, "}"]);
  expect(await source.list?.(signal)).toEqual(names);
  await expect(source.open("9", { signal })).rejects.toMatchObject({
    code: "not-found",
    message: "there is no 9 among the files (0, 1, 2, 3, 4, 5, 6, 7)",
  });
});

it("files that changed since they were picked are an error that names them", async () => {
  const file = new File(["{}"], "config.json");
  const gone = new ReadableStream({
    pull: () => Promise.reject(new DOMException("gone", "NotReadableError")),
  });
  Object.defineProperty(file, "stream", { value: () => gone });
  await expect(readText(open(request([file])), "config.json", signal)).rejects.toMatchObject({
    code: "network",
    message: expect.stringMatching(
      /^config\.json cannot be read \(NotReadableError: gone\): it has been changed/,
    ),
  });
});

const folder = { kind: "folder", url: "http://host/m/" } as const;
const files = (...names: string[]) => request(names.map((name) => new File(["{}"], name)));

it("a Hub model or local files need a conversion, and the source states the result's format", async () => {
  expect((await opened(files("config.json"))).weights).toBe("q8");
  expect((await opened(files("config.json"), { weights: "q4" })).weights).toBe("q4");
  expect((await opened(folder)).weights).toBeUndefined();
  expect((await opened(folder, { weights: "q4" })).weights).toBe("q4");
  expect((await opened({ ...folder, file: "m.gguf" })).weights).toBe("q8");
});

const enough = AbortSignal.abort(new Error("enough"));
it.each<[string, () => unknown]>([
  ["the hub's list", () => open(orHub).list?.(enough)],
  ["a folder of that name", async () => opened({ ...folder, orHub }, {}, enough)],
  ["a local file", () => open(files("config.json")).open("config.json", { signal: enough })],
])("an aborted load does not wait for %s", async (_, load) => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));
  await expect(load()).rejects.toThrow("enough");
});
