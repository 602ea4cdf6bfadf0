// How the worker is started from the package's folder and from one file.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { pack } from "../../web/scripts/pack.mjs";
import { startWorker } from "../../web/src/client/start-worker.js";
import { waitForLock } from "../../web/src/client/wait-for-lock.js";
import { release } from "../../web/src/shared/release.js";
import type { Variant } from "../../web/src/shared/types.js";
import { createModule } from "../../web/src/model/wasm-module.js";
import { PackedBuilds } from "../../web/src/worker/packed-builds.js";
import { FakeLocks } from "./support/fake-opfs.js";
import { FakeWorker } from "./support/fake-worker.js";

/** The workers that were started, and a browser that refuses some of them. */
let made: (FakeWorker & { address: string; options: unknown })[];
let refuses: (address: string) => boolean;
const blobs: Blob[] = [];

beforeEach(() => {
  made = [];
  blobs.length = 0;
  refuses = () => false;
  vi.stubGlobal(
    "Worker",
    class extends FakeWorker {
      readonly address: string;
      readonly options: unknown;
      constructor(address: URL | string, options?: unknown) {
        super();
        this.address = String(address);
        this.options = options;
        if (refuses(this.address)) throw new DOMException(`${this.address} is refused`, "SecurityError");
        made.push(this);
      }
    },
  );
  const location = new URL("https://page.example/app/");
  vi.stubGlobal("location", location);
  vi.stubGlobal("self", { location, origin: location.origin });
  vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => `blob:${blobs.push(blob as Blob)}`);
});
const cannotStart = "the engine needs a worker, and cannot start one: ";
const addresses = () => made.map(({ address }) => address);

const page = "https://page.example/gpt2/";
const cdn = "https://cdn.example/gpt2/";
it.each([
  ["is a module of that folder", page, 0, [`${page}gpt2-worker.js`]],
  ["at another origin is imported by a local script", cdn, 0, ["blob:1"]],
  ["that does not start is imported by a local script", page, 1, [`${page}gpt2-worker.js`, "blob:1"]],
])("the worker of a folder %s", async (_, folder, failures, expected) => {
  startWorker(folder);
  for (let i = 0; i < failures; ++i) made[i]?.fail();
  expect(addresses()).toEqual(expected);
  expect(made[0]?.options).toEqual({ type: "module", name: "gpt2" });
  if (blobs[0]) expect(await blobs[0].text()).toContain(`import("${folder}gpt2-worker.js")`);
});

it("a worker of another release is started again past the browser's cache", async () => {
  const renewed = `gpt2-worker.js?release=${release}`;
  startWorker(page);
  made[0]?.say({ type: "started", release: "old" });
  expect(addresses()[1]).toBe(page + renewed);
  const other = "https://other.example/gpt2/"; // each address of another origin gets one script
  startWorker(other);
  made[2]?.say({ type: "started", release: "old" });
  expect(addresses().slice(2)).toEqual(["blob:1", "blob:2"]);
  expect(await blobs[1]?.text()).toContain(`import("${other}${renewed}")`);
});

it("if no worker can be started, the error has the reason", () => {
  refuses = () => true;
  expect(() => startWorker(page)).toThrow(`${cannotStart}blob:1 is refused`);
  vi.stubGlobal("Worker", undefined);
  expect(() => startWorker(page)).toThrow(/cannot start one: ./);
});

it("a bundled module starts the worker that the bundler found, and else the one that it contains", async () => {
  const browsers = globalThis.Worker;
  startWorker();
  expect(addresses()).toEqual([expect.stringMatching(/\/web\/src\/client\/gpt2-worker\.js$/)]);
  expect(made[0]?.options).toEqual({ type: "module", name: "gpt2" });
  vi.stubGlobal("GPT2_WORKER", { engine: "the engine; ", script: pack("its script") });
  made[0]?.fail(); // its address is another origin's, or its host sends it without the headers of the page
  await vi.waitFor(() => expect(addresses().slice(1)).toEqual(["blob:1"]));
  expect(await blobs[0]?.text()).toMatch(/^the engine; .*its script$/);
  expect(globalThis.Worker).toBe(browsers);
});

describe("the worker of one file", () => {
  const packed = pack("its script");
  beforeEach(() => {
    vi.stubGlobal("GPT2_WORKER", { engine: "the engine; ", script: packed });
    vi.resetModules();
  });
  const load = async () => (await import("../../web/src/client/start-packed-worker.js")).startWorker;

  it("the worker of the single file is created from the file's contents, once", async () => {
    const startPacked = await load();
    await startPacked.prepare();
    startPacked();
    await startPacked.prepare();
    startPacked();
    expect(addresses()).toEqual(["blob:1", "blob:1"]);
    expect(blobs).toHaveLength(1);
    // It has the module's address, from which it loads optional parts.
    expect(await blobs[0]?.text()).toMatch(
      /^the engine; const gpt2Module="file:.*\/inlined-worker\.ts";its script$/,
    );
    expect(blobs[0]?.type).toBe("text/javascript");
    expect(made[0]?.options).toEqual({ name: "gpt2" });
  });

  it("the worker of the single file is in no folder, and its error says why it cannot start", async () => {
    const startPacked = await load();
    expect(() => startPacked("https://page.example/")).toThrow(
      "baseUrl has no effect: worker and engine are in this file",
    );
    await startPacked.prepare();
    refuses = () => true;
    expect(() => startPacked()).toThrow(`${cannotStart}blob:1 is refused`);
  });
});

const empty = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]); // the smallest WebAssembly module
const named = Buffer.from([...empty, 0, 5, 4, ...Buffer.from("mine")]);
const make = () =>
  new PackedBuilds(
    { simd: pack(empty), threads: pack(named), "simd-relaxed": pack("odd"), "threads-relaxed": "" },
    "this.js",
  );

it("each build of the single file is unpacked from its own data", async () => {
  expect(await make().compile("simd")).toBeInstanceOf(WebAssembly.Module);
  const module = await make().compile("threads");
  expect(WebAssembly.Module.customSections(module, "mine")).toHaveLength(1);
});

it("broken or unpackable builds of the single file are errors", async () => {
  const expectError = (variant: Variant, message: string) =>
    expect(make().compile(variant)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining(message),
    });
  await expectError("simd-relaxed", "this browser cannot run the engine");
  vi.stubGlobal("DecompressionStream", undefined);
  await expectError("simd", "this browser has no DecompressionStream, which unpacks the engine");
});

it("the builds of the single file include their scripts, whose threads run the same file", async () => {
  expect(await make().importScript()).toEqual({ createModule, threadScript: "this.js" });
});

// How the page notices that its worker has ended: it waits for a lock that the worker holds.
const settle = () => new Promise((resolve) => setTimeout(resolve));

it("waitForLock calls back only after the holder of the lock has ended", async () => {
  const locks = new FakeLocks();
  vi.stubGlobal("navigator", { locks });
  let end: () => void = () => {};
  void locks.request("worker", () => new Promise<void>((resolve) => (end = resolve)));
  await settle();
  const run = vi.fn();
  waitForLock("worker", run);
  await settle();
  expect(run).not.toHaveBeenCalled();
  end();
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1));
});

it.each([
  ["the page cannot see the lock", { locks: new FakeLocks() }],
  ["there are no locks", {}],
  ["the browser refuses them", { locks: { query: () => Promise.reject(new Error("no")) } }],
])("waitForLock does nothing if %s", async (_, navigator) => {
  vi.stubGlobal("navigator", navigator);
  const run = vi.fn();
  waitForLock("worker", run);
  await settle();
  expect(run).not.toHaveBeenCalled();
});

it("the requests to a worker fail once the lock that it named is free", async () => {
  const locks = new FakeLocks();
  vi.stubGlobal("navigator", { locks });
  void locks.request("its lock", settle);
  await settle();
  const request = startWorker().request("detokenize", [1]);
  made[0]?.say({ type: "alive", lock: "its lock" });
  await expect(request).rejects.toMatchObject({ code: "worker-died" });
});
