// Which models are stored, by which ids they are listed, and how their host is asked for newer versions.
import { createHash } from "node:crypto";
import { beforeEach, expect, it, vi } from "vitest";
import type { Revalidation } from "../../web/src/model/store/revalidation.js";
import type { ModelRecord } from "../../web/src/model/store/records.js";
import type { ModelSource } from "../../web/src/model/sources/model-source.js";
import type { LoadRequest } from "../../web/src/shared/protocol.js";

const opened = vi.hoisted(() => ({ store: { kind: "opfs" }, refusal: null as string | null }));
const openStoreFor = vi.hoisted(() => vi.fn(async () => opened));
vi.mock("../../web/src/model/store/open-store.js", () => ({ openStoreFor }));
vi.mock("../../web/src/model/store/cached-source.js", () => ({
  CachedSource: function (...given: unknown[]) {
    return { given };
  },
}));
const { cached } = await import("../../web/src/model/store/index.js");

/** A host's answers by address; all others are 404. */
interface Answer {
  body?: string;
  headers?: Record<string, string>;
  /** Whether it refuses other methods. */
  signsGet?: boolean;
}
const answers = new Map<string, Answer>();
const asked: { url: string; init: RequestInit | undefined }[] = [];
beforeEach(() => {
  answers.clear();
  asked.length = 0;
  opened.store = { kind: "opfs" };
  opened.refusal = null;
  vi.stubGlobal("fetch", async (url: string, init?: RequestInit) => {
    asked.push({ url, init });
    const answer = answers.get(url);
    const isRefused = answer?.signsGet && init?.method !== undefined;
    const options = { status: isRefused ? 403 : answer ? 200 : 404, headers: answer?.headers ?? {} };
    return new Response(answer?.body === undefined ? null : new TextEncoder().encode(answer.body), options);
  });
});

const url = "https://host.example/m/";
const request = (more: object = {}, source: object = {}) =>
  ({ source: { kind: "folder", url, ...source }, headers: [], ...more }) as unknown as LoadRequest;
const sourceOf = (more: object = {}) => ({ id: url, open: vi.fn(), ...more }) as unknown as ModelSource;
type Given = [store: unknown, source: ModelSource, id: string, revalidation: Revalidation | undefined];
const make = async (of: ModelSource, by: LoadRequest) => {
  const [store, source, id, revalidation] = ((await cached(of, by)) as unknown as { given: Given }).given;
  return { store, source, id, revalidation };
};
const record = (more: object) => ({ files: [], ...more }) as unknown as ModelRecord;
const { signal } = new AbortController();
const hash = (text: string) => createHash("sha256").update(text).digest("hex");

it.each([
  ["https://host.example/m/", undefined, "https://host.example/m/"],
  ["http://localhost/m/", undefined, "http://localhost/m/"],
  ["hf:owner/name@main", undefined, "hf:owner/name@main"],
  ["https://host.example/m/", "a.gguf", "https://host.example/m/a.gguf"],
  ["https://host.example/m/a.gguf", "a.gguf", "https://host.example/m/a.gguf"],
  ["hf:owner/name@main", "a.gguf", "hf:owner/name/a.gguf@main"],
  ["hf:owner/name", "a.gguf", "hf:owner/name/a.gguf"],
])("the source %s with the file %s is stored as %s", async (id, file, listed) => {
  const source = sourceOf({ id });
  const found = await make(source, request({}, { file }));
  expect(found.id).toBe(listed);
  expect(found.source).toBe(source);
  expect(found.store).toBe(opened.store);
  expect(openStoreFor).toHaveBeenLastCalledWith(listed);
});

const localIds = [undefined, "blob:https://host.example/x", "file:///m/", "xhttps://host.example/", "hf"];
it.each(localIds)("a source with the id %s is not stored", async (id) => {
  openStoreFor.mockClear();
  const source = sourceOf({ id });
  expect(await cached(source, request())).toBe(source);
  expect(openStoreFor).not.toHaveBeenCalled();
});

it("a model with a local adapter, or without a store, is not stored, and the source says why", async () => {
  const source = sourceOf({ id: undefined });
  expect(await cached(source, request())).toBe(source);
  expect(await source.notStored?.()).toBe("an adapter from local files is not stored");
  const files = sourceOf({ id: undefined });
  await cached(files, request({}, { kind: "files" }));
  expect(typeof files.notStored).toBe("undefined");
  Object.assign(opened, { store: undefined, refusal: "a private window" });
  const refused = sourceOf();
  expect(await cached(refused, request())).toBe(refused);
  expect(await refused.notStored?.()).toBe("a private window");
});

it("no host is asked if the page's own fetch answers, or if the hub has no versions", async () => {
  const version = async () => "v1";
  expect((await make(sourceOf({ version }), request({ fetchPort: {} }))).revalidation).toBeUndefined();
  expect((await make(sourceOf(), request({}, { kind: "hub" }))).revalidation).toBeUndefined();
});

it.each([
  [{}, 500],
  [{ headers: [["a", "b"]] }, 10_000],
  [{ credentials: "include" }, 10_000],
])("the host is asked with %j, with a time limit of %i ms", async (more, patienceMs) => {
  for (const source of [sourceOf(), sourceOf({ version: async () => "v" })])
    expect((await make(source, request(more))).revalidation?.patienceMs).toBe(patienceMs);
});

it("a host with versions is asked for its version", async () => {
  let version: string | undefined = "v2";
  const source = sourceOf({
    async version(this: ModelSource) {
      expect(this).toBe(source);
      return version;
    },
  });
  const { revalidation } = await make(source, request());
  expect(await revalidation?.version?.(signal)).toBe("v2");
  expect(await revalidation?.hasChanged(record({ version: "v2" }), signal)).toBe(false);
  expect(await revalidation?.hasChanged(record({ version: "v1" }), signal)).toBe(true);
  version = undefined;
  expect(await revalidation?.hasChanged(record({ version: "v1" }), signal)).toBe(false);
  expect(asked).toEqual([]);
});

it("the host of a converted model is asked about the first file of weights", async () => {
  const { revalidation } = await make(sourceOf({ weights: "q8" }), request({ headers: [["k", "v"]] }));
  const config = "{}";
  answers.set(`${url}config.json`, { body: config });
  const name = async () => revalidation?.version?.(signal);
  expect(await name()).toBeUndefined();
  expect(asked.map((each) => each.url)).toEqual(
    [
      "config.json",
      "weights.json",
      "model.safetensors",
      "model.safetensors.index.json",
      "pytorch_model.bin",
      "pytorch_model.bin.index.json",
    ].map((file) => url + file),
  );
  expect(asked[0]?.init).toMatchObject({ cache: "no-cache", signal });
  expect(asked[1]?.init).toMatchObject({ method: "HEAD", cache: "no-cache", signal });
  for (const { init } of asked) expect(new Headers(init?.headers).get("k")).toBe("v");
  const file = `${url}model.safetensors`;
  const headers: Record<string, string> = { "content-length": "7" };
  answers.set(file, { headers });
  answers.set(`${url}model.safetensors.index.json`, { headers: { etag: "other" } });
  expect(await name()).toBe(`  7 ${hash(config)}`);
  Object.assign(headers, { etag: '"e"', "last-modified": "Monday" });
  expect(await name()).toBe(`"e" Monday 7 ${hash(config)}`);
  const page = { etag: "page", "content-type": "text/html; charset=utf-8" }; // in place of a missing file
  answers.set(`${url}weights.json`, { headers: page });
  expect(await name()).toMatch(/^"e" /);
  answers.set(file, {});
  expect(await name()).toBeUndefined();
  expect(await revalidation?.hasChanged(record({ version: "x", weights: "q8" }), signal)).toBe(false);
});

const texts = { "config.json": "{}", "tokenizer.json": "[]", "generation_config.json": "{ }" };
const index = "model.safetensors.index.json";
const shards = { a: "a.safetensors", b: "b.safetensors" };
/** Whether the host has changed after `change`, with the option weights and without it. */
const askAfter = async (change: () => unknown) => {
  for (const [name, body] of Object.entries(texts)) answers.set(url + name, { body });
  answers.set(url + index, { body: JSON.stringify({ weight_map: shards }), headers: { etag: "map" } });
  for (const name of Object.values(shards)) answers.set(url + name, { headers: { etag: name } });
  const { revalidation } = await make(sourceOf({ weights: "q8" }), request());
  const plain = await make(sourceOf(), request());
  const files = Object.entries(texts).map(([path, text]) => ({ path, sha256: hash(text) }));
  // The conversion makes these two.
  const made = ["weights.json", "config.json"].map((path) => ({ path, sha256: hash("made") }));
  const version = await revalidation?.version?.(signal);
  const stored = record({ weights: "q8", version, files: [...files.slice(1), ...made] });
  change();
  const both = [revalidation, plain.revalidation];
  return Promise.all(both.map(async (one) => one?.hasChanged(stored, signal)));
};

it.each<[string, boolean, () => unknown]>([
  ["none of its files has", false, () => {}],
  ["its host does not answer for a shard", false, () => answers.delete(url + shards.b)],
  ...Object.keys(texts).map((name): [string, boolean, () => unknown] => {
    return [`its ${name} has`, true, () => answers.set(url + name, { body: "corrected" })];
  }),
  [
    "a shard has, also if the list of shards has not",
    true,
    () => {
      answers.set(url + shards.b, { headers: { etag: "trained again" } });
      answers.delete(`${url}tokenizer.json`); // the new version may have other files
    },
  ],
])("a folder of floats is compared with its host (%s: %s)", async (_, hasChanged, change) => {
  expect(await askAfter(change)).toEqual([hasChanged, hasChanged]);
});

it("the hosts of adapters are asked too, and alone decide if the model's host has no versions", async () => {
  let [model, adapters]: (string | undefined)[] = ["m1", "a1"];
  const source = sourceOf({ version: async () => model, adapterVersion: async () => adapters });
  const { revalidation } = await make(source, request());
  const stored = await revalidation?.version?.(signal);
  for (const [modelNow, adaptersNow, hasChanged] of [
    ["m1", "a1", false],
    ["m2", "a1", true],
    [undefined, "a1", false],
    [undefined, "a2", true],
    ["m1", "a2", true],
    ["m1", undefined, false],
  ] as const) {
    [model, adapters] = [modelNow, adaptersNow];
    expect(await revalidation?.hasChanged(record({ version: stored }), signal)).toBe(hasChanged);
  }
  expect(await revalidation?.version?.(signal)).toBeUndefined();
});

it.each([
  ["", "g  ", ["HEAD"]],
  ["?sign=1", "g  ", ["HEAD"]],
  ["?sign=get", "g  ", ["HEAD", undefined]],
  ["?none", hash("?none"), ["HEAD"]],
  ["?expired", undefined, ["HEAD"]],
])("the host of a GGUF file with the query %j is asked about that file", async (query, version, methods) => {
  const headers: Record<string, string> = query === "?none" ? {} : { etag: "g" };
  if (query !== "?expired") answers.set(`${url}a.gguf${query}`, { headers, signsGet: query === "?sign=get" });
  const made = await make(sourceOf({ weights: "q4" }), request({}, { file: "a.gguf", query }));
  expect(await made.revalidation?.version?.(signal)).toBe(version);
  expect(made.id).toBe(`${url}a.gguf`); // the next signature finds the same model
  expect(asked.map((each) => [each.url, each.init?.method])).toEqual(
    methods.map((method) => [`${url}a.gguf${query}`, method]),
  );
});

it("the host of a converted folder is asked for its small files", async () => {
  const { revalidation } = await make(sourceOf(), request({ headers: [["k", "v"]] }, { query: "?q" }));
  expect(revalidation?.version).toBeUndefined();
  const index = JSON.stringify({ size: 0, pieces: [] });
  const config = JSON.stringify({ model_type: "gpt2" });
  answers.set(`${url}weights.json?q`, { body: index });
  answers.set(`${url}config.json?q`, { body: config });
  const files = (indexText: string, configText: string) =>
    record({
      files: [
        { path: "weights.json", sha256: hash(indexText) },
        { path: "config.json", sha256: hash(configText) },
        { path: "vocab.json", sha256: hash("is not asked for") },
      ],
    });
  expect(await revalidation?.hasChanged(files(index, config), signal)).toBe(false);
  expect(asked.map((each) => each.url)).toEqual([`${url}weights.json?q`, `${url}config.json?q`]);
  expect(asked[0]?.init).toMatchObject({ cache: "no-cache" });
  expect(new Headers(asked[0]?.init?.headers).get("k")).toBe("v");
  expect(await revalidation?.hasChanged(files("another", config), signal)).toBe(true);
  expect(await revalidation?.hasChanged(files(index, "another"), signal)).toBe(true);
  answers.delete(`${url}config.json?q`);
  await expect(revalidation?.hasChanged(files(index, config), signal)).rejects.toThrow("config.json");
});

it("a host whose config.json is too large to be one counts as unchanged", async () => {
  const { revalidation } = await make(sourceOf(), request());
  answers.set(`${url}config.json`, { body: " ".repeat(2 ** 24 + 1) });
  const stored = record({ files: [{ path: "config.json", sha256: hash("stored") }] });
  await expect(revalidation?.hasChanged(stored, signal)).rejects.toThrow("expected at most 16777216");
});

const otherAnswers = ["", '{"error":"busy"}', "null", "<!doctype html>"];
it.each(otherAnswers)("a host that answers 200 with %j counts as unchanged", async (body) => {
  const { revalidation } = await make(sourceOf(), request());
  for (const path of ["weights.json", "config.json"]) {
    answers.set(url + path, { body });
    const stored = record({ files: [{ path, sha256: hash("stored") }] });
    await expect(revalidation?.hasChanged(stored, signal)).rejects.toThrow(
      new RegExp(`the host sent a ${path} that does not belong to a model|${path} is a web page`),
    );
  }
});
