// The engine's builds from a host that is slow, breaks off, or sends something else.
import { resolveObjectURL } from "node:buffer";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, vi } from "vitest";
import { hashedCode } from "../../web/scripts/hash-code.mjs";
import type { RetryOptions } from "../../web/src/model/sources/steady-fetch.js";
import type { Variant } from "../../web/src/shared/types.js";
import type { BuildAddresses } from "../../web/src/worker/addresses.js";
import { UrlBuilds } from "../../web/src/worker/url-builds.js";

const { signal } = new AbortController();
const patience: RetryOptions = { stallMs: 10_000, onRetry: () => {} };
const empty = Uint8Array.from(hashedCode(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)));
const wasm = { headers: { "content-type": "application/wasm" } };
const script = { headers: { "content-type": "text/javascript" } };

/** All builds at the same two addresses. */
function addressesOf(script: string, code = script): Record<Variant, BuildAddresses> {
  const one = { script: () => new URL(script), code: () => new URL(code) };
  return { "threads-relaxed": one, threads: one, "simd-relaxed": one, simd: one };
}

/** Builds in `folder`. `asked` has each request: its address and the caches that it may use. */
function builds(response: (count: number) => Response, folder = "http://host/engine/", isInBlob = false) {
  const asked: [string, RequestCache | undefined][] = [];
  const ask = async (url: URL | RequestInfo, init?: RequestInit) =>
    response(asked.push([url instanceof Request ? url.url : String(url), init?.cache]));
  const source = new UrlBuilds(addressesOf(`${folder}x.mjs`, `${folder}x.wasm`), isInBlob, ask);
  const compile = (wanted = signal, how = patience) => source.compile("simd", wanted, how);
  const importScript = () => source.importScript("simd", signal, patience);
  return { asked, compile, importScript };
}

it("UrlBuilds waits for slow code as long as bytes arrive", async () => {
  vi.useFakeTimers();
  let left = empty.length;
  const trickle = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 800));
      controller.enqueue(empty.slice(empty.length - left, empty.length - left + 10));
      if ((left -= 10) <= 0) controller.close();
    },
  });
  const { compile, asked } = builds(() => new Response(trickle));
  const compiling = compile(signal, { stallMs: 1000, onRetry: () => {} });
  await vi.advanceTimersByTimeAsync(800 * Math.ceil(empty.length / 10));
  expect(await compiling).toBeInstanceOf(WebAssembly.Module);
  expect(asked).toHaveLength(1);
});

it("UrlBuilds reports how long no code arrived", async () => {
  vi.useFakeTimers();
  const retries: (string | null)[] = [];
  const slow = { stallMs: 1000, onRetry: (reason: string | null) => void retries.push(reason) };
  const silent = builds(() => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })));
  const failing = silent.compile(signal, slow);
  failing.catch(() => {});
  await vi.advanceTimersByTimeAsync(60_000);
  const error = { code: "network", message: expect.stringMatching(/no data for 1 s$/) as string };
  await expect(failing).rejects.toMatchObject(error);
  expect(new Set(retries)).toEqual(new Set(["no data for 1 s"]));
});

it.each([
  [wasm, 1],
  [{}, 0],
])("UrlBuilds compiles code with %o, while streaming if that is the right type", async (type, times) => {
  const streaming = vi.spyOn(WebAssembly, "compileStreaming");
  const { compile, asked } = builds(() => new Response(empty, type));
  expect(await compile()).toBeInstanceOf(WebAssembly.Module);
  expect(asked).toEqual([["http://host/engine/x.wasm?release=unbuilt", undefined]]);
  expect(streaming).toHaveBeenCalledTimes(times);
});

/** Pauses between attempts take no time. */
const withoutPauses = () =>
  vi.stubGlobal("setTimeout", (task: () => void, ms = 0) => ms < 10_000 && queueMicrotask(task));

const flipped = empty.slice();
flipped[empty.length - 70] = (flipped[empty.length - 70] ?? 0) ^ 4; // in a custom section, so it still compiles
const invalid = Uint8Array.from(hashedCode(Uint8Array.of(1, 2, 3, 4)));
const broken = () => new ReadableStream({ pull: (to) => to.error(new TypeError("reset")) });
const faults: [string, () => BodyInit, string, RegExp][] = [
  ["with a changed bit", () => flipped, "corrupt", /http:\/\/host\/engine\/x\.wasm/],
  ["cut short", () => empty.slice(0, 8), "corrupt", /x\.wasm/],
  ["of no bytes", () => new Uint8Array(), "corrupt", /x\.wasm/],
  ["of a page", () => "<p>", "corrupt", /x\.wasm/],
  ["that the browser cannot compile", () => invalid, "unsupported", /^this browser cannot run the engine/],
  ["whose connection breaks", broken, "network", /^the connection broke while reading .*reset/],
];
const cases = faults.flatMap((fault) => [wasm, {}].map((type) => [...fault, type] as const));
it.each(cases)("code %s is fetched once more, if that can help", async (_, body, code, message, type) => {
  withoutPauses();
  expect(WebAssembly.validate(flipped)).toBe(true);
  const { compile } = builds(() => new Response(body(), type));
  await expect(compile()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  if (code === "unsupported") return;
  const healed = builds((count) => new Response(count > 1 ? empty : body(), type));
  expect(await healed.compile()).toBeInstanceOf(WebAssembly.Module);
  expect(healed.asked.map(([, cache]) => cache)).toEqual([undefined, "reload"]);
});

it("UrlBuilds reports an abort, not the broken connection", async () => {
  const aborted = AbortSignal.abort(new Error("enough"));
  await expect(builds(() => new Response(broken())).compile(aborted)).rejects.toThrow("enough");
});

const folder = mkdtempSync(join(tmpdir(), "gpt2-builds-"));
writeFileSync(join(folder, "x.mjs"), "export default 42;");
const here = pathToFileURL(`${folder}/`).href;
const elsewhere = pathToFileURL(`${folder}/nowhere/`).href;
const page = (origin: string) => vi.stubGlobal("self", { origin, location: { href: "http://page/" } });

it("a build with scripts is imported, and starts threads from its address", async () => {
  page("null"); // the origin of files
  const { importScript } = builds(() => new Response(), here);
  expect(await importScript()).toEqual({ createModule: 42, threadScript: `${here}x.mjs` });
  const inBlob = builds(() => new Response(), here, true); // on a page without an origin, there are no blobs
  expect((await inBlob.importScript()).threadScript).toMatch(/^data:/);
});

it.each([
  ["at another origin", "http://page", `${here}x.mjs`, false],
  ["of a worker that runs from a blob", "file://", `${here}x.mjs`, true],
  ["that a bundler has inlined", "http://page", "data:text/javascript,export default 42", false],
])("a build %s starts its threads from a blob", async (_, origin, address, isInBlob) => {
  page(origin);
  const source = new UrlBuilds(addressesOf(address), isInBlob, async () => new Response());
  const { threadScript } = await source.importScript("threads", signal, patience);
  expect(threadScript).toMatch(/^blob:/);
  expect(await resolveObjectURL(threadScript)?.text()).toContain(`import(${JSON.stringify(address)})`);
});

it("a script that was unreachable is imported again", async () => {
  page("null");
  const late = join(folder, "late");
  mkdirSync(late);
  const { importScript, asked } = builds(
    (count) => {
      if (count === 1) writeFileSync(join(late, "x.mjs"), "export default 43;");
      return new Response("", script);
    },
    pathToFileURL(`${late}/`).href,
  );
  expect(await importScript()).toMatchObject({ createModule: 43 });
  expect(asked).toHaveLength(1);
});

const otherType = /x\.mjs as "application\/octet-stream", expected "text\/javascript"/;
const noType = /x\.mjs without a type, expected "text\/javascript"/;
const notRun = /x\.mjs was loaded, but cannot be run: /;
const octets = { headers: { "content-type": "application/octet-stream" } };
it.each([
  ["is missing", () => new Response("", { status: 404 }), elsewhere, "not-found", /404/],
  ["has a wrong type", () => new Response(empty, octets), elsewhere, "network", otherType],
  ["has no type", () => new Response(empty), elsewhere, "network", noType],
  ["does not run", () => new Response("oh", script), elsewhere, "unsupported", notRun],
])("the error for a script that %s says so", async (_, response, from, code, message) => {
  page("null");
  const { importScript, asked } = builds(response, from);
  await expect(importScript()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  expect(asked).toHaveLength(1);
});
