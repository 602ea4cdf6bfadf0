import { expect, it, vi } from "vitest";
import { describeEnvironment, explainSpeed, type Facts } from "../../web/src/client/environment.js";
import { explainEnvironment } from "../../web/src/client/on-demand.js";
import type { ModelInfo } from "../../web/src/shared/types.js";

const everything: Facts = {
  webAssembly: "runs",
  simd: true,
  relaxedSimd: true,
  sharedMemory: true,
  isIsolated: true,
  isSecure: true,
  isFramed: false,
  isForbidden: false,
  cores: 8,
  storage: { freeBytes: 5e9 },
  mostBytes: 2 ** 32,
};
const describeWithout = (facts: Partial<Facts>) => describeEnvironment({ ...everything, ...facts });

it("describeEnvironment suggests no change if nothing is missing", () => {
  const environment = describeEnvironment(everything);
  for (const [name, capability] of Object.entries(environment)) {
    expect(capability, name).toMatchObject({ has: true, remedy: null });
  }
  expect(environment.threads.reason).toContain("8 cores");
  expect(environment.storage).toMatchObject({
    freeBytes: 5e9,
    reason: expect.stringContaining("5.0 GB are free"),
  });
  expect(environment.memory.mostBytes).toBe(2 ** 32);
});

const isolation = ["threads", "isolation"] as const;
const coop = /^Cross-Origin-Opener-Policy: same-origin\n/;
it.each([
  [isolation, { isIsolated: false }, /COOP and COEP/, coop],
  [isolation, { isIsolated: false, isSecure: false }, /http/, /^serve the page over https$/],
  [
    isolation,
    { isIsolated: false, isForbidden: true },
    /Permissions-Policy forbids it/,
    /^remove cross-origin-/,
  ],
  [isolation, { isIsolated: false, isFramed: true }, /in a frame/, /<iframe allow="cross-origin/],
  [["threads"], { sharedMemory: false }, /no WebAssembly threads/, null],
  [["simd"], { webAssembly: "missing" }, /no WebAssembly/, /Safari 16\.4/],
  [["simd"], { webAssembly: "forbidden" }, /security policy/, /'wasm-unsafe-eval' to the script-src/],
  [["simd"], { simd: false }, /no WebAssembly SIMD/, /Chrome or Edge/],
  [["relaxedSimd"], { relaxedSimd: false }, /the results are the same, but slower/, null],
  [["storage"], { storage: undefined }, /stores nothing/, null],
  [["storage"], { storage: undefined, isSecure: false }, /over http/, /https/],
  [["memory"], { mostBytes: 64e6 }, /64 MB/, /smaller model/],
  [["storage"], { runtime: "Node.js" }, /^Node.js stores no model/, /load their folder/],
  [["relaxedSimd"], { runtime: "Node.js", relaxedSimd: false }, /^Node.js has no/, /^Node.js 22/],
  [["relaxedSimd"], { runtime: "Deno", relaxedSimd: false }, /^Deno has no/, null],
] as const)("describeEnvironment explains %j with %j", (names, facts, reason, remedy) => {
  const environment = describeWithout(facts);
  for (const name of names) {
    expect(environment[name].has).toBe(false);
    expect(environment[name].reason).toMatch(reason);
    expect(environment[name].reason).toMatch(/^[A-Z].*\.$/);
    if (remedy) expect(environment[name].remedy).toMatch(remedy);
    else expect(environment[name].remedy).toBeNull();
  }
});

it("in Node.js, explainEnvironment speaks neither of a browser nor of a page", async () => {
  const environment = await explainEnvironment();
  expect(JSON.stringify(environment)).not.toMatch(/browser|page/);
  expect([environment.isolation.has, environment.threads.has]).toEqual([true, true]);
});

it("explainEnvironment describes the current environment", async () => {
  vi.stubGlobal("location", {});
  vi.stubGlobal("crossOriginIsolated", true);
  vi.stubGlobal("isSecureContext", true);
  const estimate = async () => ({ quota: 100, usage: 40 });
  vi.stubGlobal("navigator", { hardwareConcurrency: 3, storage: { estimate } });
  const { simd, threads, isolation, storage, memory } = await explainEnvironment();
  expect([simd.has, threads.has, isolation.has]).toEqual([true, true, true]);
  expect(threads.reason).toContain("3 cores");
  expect(storage.freeBytes).toBe(60);
  expect(memory.mostBytes).toBe(2 ** 32);
});

it("explainEnvironment works if almost nothing is available", async () => {
  vi.stubGlobal("location", {});
  vi.stubGlobal("navigator", undefined);
  vi.stubGlobal("WebAssembly", undefined);
  const environment = await explainEnvironment();
  expect(Object.values(environment).map(({ has }) => has)).toEqual(Array(6).fill(false));
});

it("explainEnvironment distinguishes a policy that forbids WebAssembly from a browser without it", async () => {
  vi.stubGlobal("location", {});
  vi.stubGlobal("navigator", {});
  class Module {
    constructor() {
      throw new WebAssembly.CompileError("'unsafe-eval' is not allowed");
    }
  }
  vi.stubGlobal("WebAssembly", { ...WebAssembly, Module, CompileError: WebAssembly.CompileError });
  expect((await explainEnvironment()).simd.remedy).toContain("wasm-unsafe-eval");
});

const info = (changes: Partial<ModelInfo>) =>
  ({ variant: "threads-relaxed", threads: 4, notice: null, ...changes }) as ModelInfo;

it("explainSpeed says which build runs, and that nothing would speed it up", () => {
  const { speed, threads } = explainSpeed(info({}), describeEnvironment(everything));
  const reason = 'The engine runs as "threads-relaxed" on 4 threads.';
  expect(speed).toEqual({ has: true, reason, remedy: null });
  expect(threads.has).toBe(true);
});

it("explainSpeed says what slows the model down, and what would help", () => {
  const slow = info({ variant: "simd", threads: 1, notice: "Running on one thread: why." });
  const { speed } = explainSpeed(slow, describeWithout({ isIsolated: false, relaxedSimd: false }));
  expect(speed.has).toBe(false);
  expect(speed.reason).toMatch(/^The engine runs as "simd" on one thread\. Running on one thread: why\. /);
  expect(speed.remedy).toMatch(/^Cross-Origin-Opener-Policy/);
});
