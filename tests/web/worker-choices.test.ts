import { describe, expect, it } from "vitest";
import { planMemory } from "../../web/src/worker/memory-plan.js";
import { chooseThreads, chooseVariant } from "../../web/src/worker/variants.js";

const all = { simd: true, relaxedSimd: true, threads: true, isIsolated: true };

describe("chooseVariant", () => {
  it("takes the fastest build that the browser runs", () => {
    expect(chooseVariant(all, undefined)).toEqual({ variant: "threads-relaxed", notice: null });
    expect(chooseVariant({ ...all, relaxedSimd: false }, undefined).variant).toBe("threads");
  });

  it("says why there is one thread", () => {
    const choice = chooseVariant({ ...all, threads: false, isIsolated: false }, undefined);
    expect(choice.variant).toBe("simd-relaxed");
    expect(choice.notice).toContain("cross-origin isolated");
  });

  it("refuses browsers without SIMD, and forced builds that cannot run", () => {
    expect(() => chooseVariant({ ...all, simd: false }, undefined)).toThrow("SIMD");
    expect(() => chooseVariant({ ...all, threads: false }, "threads")).toThrow("isolated");
    expect(() => chooseVariant({ ...all, relaxedSimd: false }, "simd-relaxed")).toThrow("relaxed");
    expect(chooseVariant(all, "simd").variant).toBe("simd");
  });
});

describe("chooseThreads", () => {
  const ask = (
    wanted: { threads?: number; threadChoices?: Record<string, number> },
    cores = 8,
    bytes = 133e6,
  ) => chooseThreads(true, { threads: undefined, threadChoices: {}, ...wanted }, cores, bytes);

  it("takes what was asked for, and one thread where there are no others", () => {
    expect(ask({ threads: 3 })).toEqual({ threads: 3, measureAs: undefined });
    expect(ask({}, 1)).toEqual({ threads: 1, measureAs: undefined });
    expect(chooseThreads(false, { threads: 3, threadChoices: {} }, 8, 1).threads).toBe(1);
  });

  it("starts all cores to measure them, and remembers by device and size of model", () => {
    const { threads, measureAs } = ask({});
    expect(threads).toBe(8);
    expect(measureAs).toBeDefined();
    const threadChoices = { [String(measureAs)]: 4 };
    expect(ask({ threadChoices })).toEqual({ threads: 4, measureAs: undefined });
    expect(ask({ threadChoices }, 8, 100e6).threads).toBe(4);
    expect(ask({ threadChoices }, 8, 13e6).measureAs).not.toBe(measureAs);
    expect(ask({ threadChoices }, 4).measureAs).not.toBe(measureAs);
    expect(ask({}, 64).threads).toBe(16);
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

  it("fits GPT-2 124M in q8 into 1.3 times its weights plus 80 MB", () => {
    const plan = planMemory(gpt2, 133_329_032, undefined);
    expect(plan.initial).toBeLessThan(pages(1.3 * 133e6 + 80e6));
    expect(plan.initial).toBeGreaterThan(pages(133e6));
    expect(plan.maximum).toBeGreaterThan(plan.initial);
  });

  it("stays within 4 GiB whatever it is given", () => {
    for (const config of [null, 3, {}, { n_embd: 1e30 }, { n_embd: "x" }, { quantization_config: null }]) {
      const plan = planMemory(config, 1e15, "f32");
      expect(plan.maximum).toBeLessThanOrEqual(65536);
      expect(plan.initial).toBeLessThanOrEqual(plan.maximum);
    }
  });
});
