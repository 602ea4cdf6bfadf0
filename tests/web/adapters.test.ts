// LoRA adapters: the accepted arguments, the files that the worker opens, and the id of a stored merged model.
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { servePageFetch } from "../../web/src/client/page-fetch.js";
import { readAdapters } from "../../web/src/client/read-adapters.js";
import { isPartOf, withAdapters, withFile } from "../../web/src/model/sources/model-id.js";
import { readText } from "../../web/src/model/sources/read-text.js";
import type { AdapterRequest, FetchPort, FilesRequest, LoadRequest } from "../../web/src/shared/protocol.js";
import { readToWorker } from "../../web/src/worker/read-message.js";
import { Adapter, versionOf } from "../../web/src/model/sources/adapter.js";
import { openSource } from "../../web/src/model/sources/open-source.js";
import { loadRequest } from "./support/load-request.js";
import { MemorySource } from "./support/memory-source.js";

const { signal } = new AbortController();
const usual = "https://huggingface.co/";
const hub = (id: string, revision = "main") => ({ kind: "hub", hub: usual, id, revision });
const folder = (url: string) => ({ kind: "folder", url });
const refusal = (message: RegExp) =>
  expect.objectContaining({ code: "invalid-argument", message: expect.stringMatching(message) });

describe("the option adapter", () => {
  beforeEach(() => void vi.stubGlobal("document", { baseURI: "http://host/page/index.html" }));
  const file = (name: string) => new File(["{}"], name);
  const both = () => [file("adapter_config.json"), file("adapter_model.safetensors")];

  const ofPage = { source: folder("http://host/page/lora/"), weight: 1 };
  it.each([
    ["lora/", [ofPage]],
    [{ source: "hf:user/lora", weight: 0.5 }, [{ source: hub("user/lora"), weight: 0.5 }]],
    [
      ["lora/", { source: "hf:a/b@v2", weight: -1 }],
      [ofPage, { source: hub("a/b", "v2"), weight: -1 }],
    ],
    [[], []],
  ])("the option adapter accepts %j", async (adapter, expected) => {
    expect(await readAdapters(adapter, undefined)).toEqual(expected);
  });

  it("the option adapter can be an id of another hub, or files, of which only the two needed are read", async () => {
    const [another] = await readAdapters("a/b", "https://hub.example/");
    expect(another?.source).toEqual({ ...hub("a/b"), hub: "https://hub.example/" });
    const files = [...both(), file("README.md")];
    for (const adapter of [files, { source: files }, [{ source: new Set(files) }]]) {
      const [found] = await readAdapters(adapter, undefined);
      expect(found?.source).toMatchObject({ kind: "files", files: both().map(({ name }) => ({ name })) });
    }
  });

  it.each([
    [3, /the adapter is 3, expected a folder's URL/],
    ["lora.gguf", /the adapter is "lora.gguf", expected a folder with adapter_model.safetensors/],
    [{ source: "lora/", weight: "1" }, /an adapter's weight is "1", expected a number/],
    [{ source: "lora/", weight: Infinity }, /an adapter's weight is Infinity/],
    [{ source: "lora/", wieght: 1 }, /unknown option "wieght" of an adapter/],
    [[file("config.json")], /the adapter's files are config.json, expected one adapter_config.json and one/],
    [{}, /number 0 of the adapter's files is an object, expected a File/],
  ])("the option adapter is refused: %j", async (adapter, message) => {
    await expect(readAdapters(adapter, undefined)).rejects.toEqual(refusal(message));
  });
});

const message = (adapters: unknown) => ({
  type: "request",
  id: 1,
  name: "load",
  args: { ...loadRequest({ kind: "folder", url: "http://host/m/" }), adapters },
});

it("the message to the worker contains adapters, or none", () => {
  for (const adapters of [undefined, [], [{ source: { kind: "folder", url: "http://host/" }, weight: -2 }]])
    expect(() => readToWorker(message(adapters))).not.toThrow();
});

it.each([
  [{}, /adapters is an object, expected an array/],
  [[{ source: { kind: "x" }, weight: 1 }], /adapters\[0\]\.source\.kind/],
  [[{ source: { kind: "folder", url: "http://host/" }, weight: NaN }], /adapters\[0\]\.weight is NaN/],
  [new Array(101).fill(0), /adapters has 101 elements/],
])("the message to the worker is refused: %j", (adapters, expected) => {
  expect(() => readToWorker(message(adapters))).toThrow(expected);
});

it("the id of a merged model names its parts, with weights other than 1", () => {
  const id = withAdapters("hf:gpt2@main", [
    { id: "hf:a/b@main", weight: 1 },
    { id: "http://host/lora/", weight: 0.5 },
  ]);
  expect(id).toBe("hf:gpt2@main + hf:a/b@main + 0.5 http://host/lora/");
  for (const part of ["hf:gpt2@main", "hf:a/b@main", "http://host/lora/"])
    expect(isPartOf(part, id ?? "")).toBe(true);
  expect(isPartOf("hf:a/b", id ?? "")).toBe(false);
  expect(withAdapters("hf:gpt2@main", [])).toBe("hf:gpt2@main");
  const ofFile = withAdapters(withFile("http://host/m/", "a.gguf"), [{ id: "hf:a/b@main", weight: 2 }]) ?? "";
  expect(ofFile).toBe("http://host/m/a.gguf + 2 hf:a/b@main");
  expect(withFile(ofFile, "a.gguf")).toBe(ofFile);
  // A local file has no id.
  expect(withAdapters(undefined, [{ id: "hf:a/b@main", weight: 1 }])).toBeUndefined();
  expect(withAdapters("hf:gpt2@main", [{ id: undefined, weight: 1 }])).toBeUndefined();
});

describe("an adapter's version", () => {
  const files = { "adapter_config.json": "{}", "adapter_model.safetensors": "abc" };
  const make = (more: object = {}) =>
    Object.assign(new MemorySource(files), { id: "http://host/lora/" }, more);
  const hash = (text: string) => createHash("sha256").update(text).digest("hex");

  it("the version of an adapter is the hash of its current files, which are read once", async () => {
    const source = make();
    const adapter = new Adapter(source, 1);
    const expected = `${hash("{}")}-${hash("abc")}`;
    expect(await adapter.version(signal)).toBe(expected);
    expect(await versionOf([adapter, adapter], signal)).toBe(`${expected} ${expected}`);
    const { config, tensors, name, weight } = await adapter.files(signal);
    expect([config, new TextDecoder().decode(tensors), name, weight]).toEqual(["{}", "abc", source.id, 1]);
    expect(source.opened.map(({ reload }) => reload)).toEqual([true, true]);
  });

  it("the version of an adapter is the Hub's commit, if there is one", async () => {
    const version = vi.fn(async (): Promise<string | undefined> => "c1");
    const source = make({ version });
    const adapter = new Adapter(source, 1);
    expect(await adapter.version(signal)).toBe("c1");
    expect(source.opened).toEqual([]);
    version.mockResolvedValue(undefined);
    expect(await versionOf([adapter, new Adapter(make(), 1)], signal)).toBeUndefined();
  });
});

const patience = { stallMs: 5000, onRetry: () => {} };
const lora = (url: string): AdapterRequest => ({ source: { kind: "folder", url }, weight: 1 });
const model = { kind: "folder", url: "http://host/m/" } as const;
/** The source of `model` with these adapters. */
const opened = (adapters: AdapterRequest[], more: Partial<LoadRequest> = {}) =>
  openSource(loadRequest(model, { adapters, ...more }), { patience, signal });
/** The address of each request, and the caller's header and credentials that it sends. */
let sent: [string, string][];
const answer = (has: (path: string) => string | undefined) => {
  sent = [];
  vi.stubGlobal("fetch", async (url: string, init?: RequestInit) => {
    sent.push([url, `${new Headers(init?.headers).get("authorization")} ${init?.credentials}`]);
    const body = has(new URL(url).pathname);
    return new Response(body ?? null, { status: body === undefined ? 404 : 200 });
  });
};

it("a model with an adapter is converted, also from a folder", async () => {
  const source = await opened([lora("http://host/l/")]);
  expect(source.weights).toBe("q8");
  expect("adapterVersion" in source).toBe(true);
  expect("adapterVersion" in (await opened([]))).toBe(false);
});

it("an adapter for a converted model is refused", async () => {
  answer((path) => (path === "/m/weights.json" ? "{}" : undefined));
  const source = await opened([lora("http://host/l/")]);
  await expect(readText(source, "config.json", signal)).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringMatching(/merged only into a model that is not converted yet/),
  });
});

const local: FilesRequest = { kind: "files", files: [], key: "" };
it.each([
  ["http://host/l/", model, "k include"],
  ["http://other/l/", model, "null undefined"],
  ["http://other/l/", local, "k include"],
])("an adapter at %s with the model %j gets the key %s, also by the page's fetch", async (url, of, key) => {
  const closed = new AbortController();
  for (const isByPage of [false, true]) {
    answer(() => "{}");
    const fetchFile = vi.fn((...asked: Parameters<typeof fetch>) => fetch(...asked));
    const fetchPort = isByPage ? (servePageFetch(fetchFile, closed.signal) as FetchPort) : undefined;
    const request = {
      source: of,
      headers: [["authorization", "k"]],
      credentials: "include",
      fetchPort,
    } as const;
    const source = await opened([lora(url)], request);
    expect(source.id).toBe(of === local ? undefined : `${model.url} + ${url}`);
    await source.adapterVersion?.(signal);
    fetchPort?.close();
    expect(fetchFile).toHaveBeenCalledTimes(isByPage ? 2 : 0);
    const addresses = ["adapter_config.json", "adapter_model.safetensors"].map((name) => url + name);
    expect(sent.sort()).toEqual(addresses.map((address) => [address, key]));
  }
  closed.abort();
});

it("an adapter's folder is found by its adapter_config.json", async () => {
  const orHub = { kind: "hub", hub: "http://hub/", id: "user/lora", revision: "main" } as const;
  const url = "http://host/user/lora/";
  for (const [body, id] of [
    ["{}", "http://host/m/ + http://host/user/lora/"],
    [undefined, "http://host/m/ + http://hub/user/lora@main"],
  ]) {
    answer(() => body);
    const source = await opened([{ source: { kind: "folder", url, orHub }, weight: 1 }]);
    expect(source.id).toBe(id);
    expect(sent[0]?.[0]).toBe("http://host/user/lora/adapter_config.json");
  }
});
