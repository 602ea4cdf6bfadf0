import { afterEach, describe, expect, it, vi } from "vitest";
import type { ThreadChoices } from "../../web/src/shared/protocol.js";
import { planMemory } from "../../web/src/worker/memory-plan.js";
import { chooseThreads, chooseVariant, detectFeatures } from "../../web/src/worker/variants.js";

const all = {
  webAssembly: true,
  simd: true,
  relaxedSimd: true,
  threads: true,
  isIsolated: true,
  isSecure: true,
};

afterEach(() => vi.unstubAllGlobals());

describe("detectFeatures", () => {
  const isolated = (crossOriginIsolated: boolean) =>
    vi.stubGlobal("self", { crossOriginIsolated, isSecureContext: true });
  /** WebAssembly whose validator refuses everything that `has` does not. */
  const validateOnly = (has: boolean) =>
    vi.stubGlobal("WebAssembly", { ...WebAssembly, validate: () => has });

  it("detectFeatures finds the features of this Node.js", async () => {
    isolated(true);
    expect(await detectFeatures()).toMatchObject({
      webAssembly: true,
      simd: true,
      threads: true,
      isIsolated: true,
    });
  });

  it("detectFeatures finds no threads if the page is not isolated", async () => {
    isolated(false);
    expect(await detectFeatures()).toMatchObject({ simd: true, threads: false, isIsolated: false });
  });

  it("detectFeatures finds no threads without SharedArrayBuffer", async () => {
    isolated(true);
    vi.stubGlobal("SharedArrayBuffer", undefined);
    expect(await detectFeatures()).toMatchObject({ simd: true, threads: false, isIsolated: true });
  });

  it("detectFeatures finds no SIMD if the validator rejects it", async () => {
    isolated(true);
    validateOnly(false);
    expect(await detectFeatures()).toEqual({ ...all, simd: false, relaxedSimd: false, threads: false });
  });

  it("detectFeatures detects that WebAssembly is turned off", async () => {
    isolated(true);
    vi.stubGlobal("WebAssembly", undefined);
    const features = await detectFeatures();
    expect(features).toEqual({
      webAssembly: false,
      simd: false,
      relaxedSimd: false,
      threads: false,
      isIsolated: true,
      isSecure: true,
    });
    expect(() => chooseVariant(features, undefined)).toThrow(
      expect.objectContaining({
        code: "unsupported",
        message: expect.stringContaining("no WebAssembly, or it is turned off"),
      }),
    );
  });
});

describe("chooseVariant", () => {
  it("chooseVariant takes the fastest build that the browser can run", () => {
    expect(chooseVariant(all, undefined)).toEqual({ variant: "threads-relaxed", notice: null });
    expect(chooseVariant({ ...all, relaxedSimd: false }, undefined).variant).toBe("threads");
  });

  it("chooseVariant explains why there is one thread", () => {
    const choice = chooseVariant({ ...all, threads: false, isIsolated: false }, undefined);
    expect(choice.variant).toBe("simd-relaxed");
    expect(choice.notice).toBe(
      "Running on one thread: the page is not cross-origin isolated (COOP and COEP headers).",
    );
    const insecure = { ...all, threads: false, isIsolated: false, isSecure: false };
    expect(chooseVariant(insecure, undefined).notice).toMatch(/^Running on one thread: .* http.*https/);
    const plain = chooseVariant({ ...all, threads: false, relaxedSimd: false }, undefined);
    expect(plain).toEqual({
      variant: "simd",
      notice: "Running on one thread: this browser has no WebAssembly threads.",
    });
  });

  it("chooseVariant refuses browsers without SIMD, and requested builds that cannot run", () => {
    const refusal = (features: typeof all, wanted?: "threads" | "simd-relaxed") => {
      try {
        return chooseVariant(features, wanted);
      } catch (error) {
        return error;
      }
    };
    expect(refusal({ ...all, simd: false })).toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/no WebAssembly SIMD: Chrome .* 100, Firefox 114, Safari 16.4/),
    });
    expect(refusal({ ...all, threads: false }, "threads")).toMatchObject({
      code: "unsupported",
      message: 'the engine build "threads" needs a cross-origin isolated page',
    });
    expect(refusal({ ...all, relaxedSimd: false }, "simd-relaxed")).toMatchObject({
      code: "unsupported",
      message: 'the engine build "simd-relaxed" needs relaxed SIMD, which this browser lacks',
    });
    expect(chooseVariant(all, "threads-relaxed")).toEqual({ variant: "threads-relaxed", notice: null });
    expect(chooseVariant({ ...all, threads: false }, "simd-relaxed").variant).toBe("simd-relaxed");
    expect(chooseVariant({ ...all, relaxedSimd: false }, "threads").variant).toBe("threads");
    expect(chooseVariant(all, "simd").variant).toBe("simd");
  });
});

describe("chooseThreads", () => {
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
});

describe("planMemory", () => {
  const gpt2 = {
    n_embd: 768,
    n_layer: 12,
    n_positions: 1024,
    vocab_size: 50257,
    quantization_config: { weights: "q8" },
  };
  const pages = (bytes: number) => bytes / 65536;

  it("planMemory fits GPT-2 124M in q8 into 1.3 times its weights plus 80 MB", () => {
    const plan = planMemory(gpt2, 133_329_032, undefined);
    expect(plan.initial).toBeLessThan(pages(1.3 * 133e6 + 80e6));
    expect(plan.initial).toBeGreaterThan(pages(133e6));
    expect(plan.maximum).toBeGreaterThan(plan.initial);
  });

  it("planMemory stays within 4 GiB for any input", () => {
    for (const config of [null, 3, {}, { n_embd: 1e30 }, { n_embd: "x" }, { quantization_config: null }]) {
      const plan = planMemory(config, 1e15, "f32");
      expect(plan.maximum).toBeLessThanOrEqual(65536);
      expect(plan.initial).toBeLessThanOrEqual(plan.maximum);
    }
  });
});
