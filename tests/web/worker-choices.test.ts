import { expect, it, vi } from "vitest";
import type { ThreadChoices } from "../../web/src/shared/protocol.js";
import { chooseThreads, chooseVariant, detectFeatures } from "../../web/src/worker/variants.js";
import { everything as all } from "./support/recorded-load.js";

const isolated = (crossOriginIsolated: boolean) =>
  vi.stubGlobal("self", { crossOriginIsolated, isSecureContext: true });
const withoutSimd = { simd: false, relaxedSimd: false, threads: false };
const noShared = () => vi.stubGlobal("SharedArrayBuffer", undefined);
const noSimd = () => vi.stubGlobal("WebAssembly", { ...WebAssembly, validate: () => false });
it.each([
  ["the features of this Node.js", true, () => {}, { webAssembly: true, simd: true, threads: true }],
  ["no threads if the page is not isolated", false, () => {}, { simd: true, threads: false }],
  ["no threads without SharedArrayBuffer", true, noShared, { simd: true, threads: false }],
  ["no SIMD if the validator rejects it", true, noSimd, { ...all, ...withoutSimd }],
])("detectFeatures finds %s", async (_, isIsolated, spoil, expected) => {
  isolated(isIsolated);
  spoil();
  expect(await detectFeatures()).toMatchObject({ ...expected, isIsolated, isSecure: true });
});

it("detectFeatures detects that WebAssembly is turned off", async () => {
  isolated(true);
  vi.stubGlobal("WebAssembly", undefined);
  const features = await detectFeatures();
  const none = { webAssembly: false, simd: false, relaxedSimd: false, threads: false };
  expect(features).toEqual({ ...none, isIsolated: true, isSecure: true });
  expect(() => chooseVariant(features, undefined)).toThrow(
    expect.objectContaining({
      code: "unsupported",
      message: expect.stringContaining("no WebAssembly, or it is turned off"),
    }),
  );
});

const notIsolated = { threads: false, isIsolated: false };
const oneThread = "Running on one thread: ";
const noIsolation = `${oneThread}the page is not cross-origin isolated (COOP and COEP headers).`;
const noThreads = `${oneThread}this browser has no WebAssembly threads.`;
const overHttp = expect.stringMatching(/^Running on one thread: .* http.*https/) as string;
it.each([
  [{}, undefined, "threads-relaxed", null],
  [{ relaxedSimd: false }, undefined, "threads", null],
  [notIsolated, undefined, "simd-relaxed", noIsolation],
  [{ ...notIsolated, isSecure: false }, undefined, "simd-relaxed", overHttp],
  [{ threads: false, relaxedSimd: false }, undefined, "simd", noThreads],
  [{ threads: false }, "simd-relaxed", "simd-relaxed", null],
  [{}, "simd", "simd", null],
] as const)("with %o and the wish %s, chooseVariant takes %s", (lacks, wanted, variant, notice) => {
  expect(chooseVariant({ ...all, ...lacks }, wanted)).toEqual({ variant, notice });
});

const needs = (build: string, what: string) => `the engine build "${build}" needs ${what}`;
it.each([
  [{ simd: false }, undefined, /no WebAssembly SIMD: Chrome .* 100, Firefox 114, Safari 16.4/],
  [{ threads: false }, "threads", needs("threads", "a cross-origin isolated page")],
  [{ relaxedSimd: false }, "simd-relaxed", needs("simd-relaxed", "relaxed SIMD, which this browser lacks")],
] as const)("with %o, chooseVariant refuses the build %s", (lacks, wanted, why) => {
  const message = typeof why === "string" ? why : (expect.stringMatching(why) as string);
  const error = expect.objectContaining({ code: "unsupported", message }) as Error;
  expect(() => chooseVariant({ ...all, ...lacks }, wanted)).toThrow(error);
});

const ask = (wanted: { threads?: number; threadChoices?: ThreadChoices }, cores = 8, bytes = 133e6) =>
  chooseThreads(true, { threads: undefined, threadChoices: {}, ...wanted }, cores, bytes);

it("chooseThreads takes the requested number, and one thread if there are no others", () => {
  expect(ask({ threads: 3 })).toEqual({ threads: 3 });
  expect(ask({}, 1)).toEqual({ threads: 1 });
  expect(ask({}, 0)).toEqual({ threads: 1 });
  // Some browsers do not report the number of cores.
  expect(chooseThreads(true, { threads: undefined, threadChoices: {} }, undefined, 1).threads).toBe(1);
  expect(chooseThreads(false, { threads: 3, threadChoices: {} }, 8, 1).threads).toBe(1);
});

it("chooseThreads measures more threads than there are cores, and stores those separately", () => {
  const { threads, measureAs } = ask({ threads: 4 }, 2);
  expect(threads).toBe(4);
  expect(measureAs).not.toBe(ask({}, 2).measureAs);
  expect(measureAs).not.toBe(ask({ threads: 8 }, 2).measureAs);
  const threadChoices = { [String(measureAs)]: { threads: 2 } };
  expect(ask({ threads: 4, threadChoices }, 2).threads).toBe(2);
  expect(ask({ threads: 2 }, 2)).toEqual({ threads: 2 });
  // If a browser does not report its cores, the requested number of threads is used.
  expect(chooseThreads(true, { threads: 4, threadChoices: {} }, undefined, 1)).toEqual({ threads: 4 });
});

it("chooseThreads starts all cores to measure them, and stores the result by device and model size", () => {
  const { threads, measureAs } = ask({});
  expect(threads).toBe(8);
  expect(measureAs).toBeDefined();
  const threadChoices = { [String(measureAs)]: { threads: 4, speed: 7 } };
  expect(ask({ threadChoices })).toEqual({ threads: 4, known: { key: measureAs, threads: 4, speed: 7 } });
  expect(ask({ threadChoices }, 8, 100e6).threads).toBe(4);
  expect(ask({ threadChoices }, 8, 13e6).measureAs).not.toBe(measureAs);
  expect(ask({ threadChoices }, 4).measureAs).not.toBe(measureAs);
  expect(ask({}, 64).threads).toBe(16);
  expect(ask({}, 2)).toMatchObject({ threads: 2, measureAs: expect.stringContaining("2 cores") });
  // A number stored by another build, on a machine that now has fewer cores.
  expect(ask({ threadChoices: { [String(measureAs)]: { threads: 99 } } }).threads).toBe(8);
});
