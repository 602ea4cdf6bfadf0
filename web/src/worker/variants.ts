// Which build of the engine this browser runs.
import { relaxedSimd, simd, threads } from "wasm-feature-detect";
import { Gpt2Error } from "../shared/errors.js";
import type { Variant } from "../shared/types.js";

export interface Features {
  simd: boolean;
  relaxedSimd: boolean;
  /** SharedArrayBuffer and wasm atomics, which need cross-origin isolation. */
  threads: boolean;
  isIsolated: boolean;
}

export async function detectFeatures(): Promise<Features> {
  const [hasSimd, hasRelaxed, hasThreads] = await Promise.all([simd(), relaxedSimd(), threads()]);
  return {
    simd: hasSimd,
    relaxedSimd: hasRelaxed,
    threads: hasThreads && self.crossOriginIsolated,
    isIsolated: self.crossOriginIsolated,
  };
}

/** The build to use, and what to tell the user if it is not the fastest. */
export function chooseVariant(
  features: Features,
  wanted: Variant | undefined,
): { variant: Variant; notice: string | null } {
  if (!features.simd) {
    throw new Gpt2Error(
      "unsupported",
      "this browser has no WebAssembly SIMD: Chrome 91, Firefox 89, Safari 16.4 or newer is needed",
    );
  }
  if (wanted !== undefined) {
    if (wanted.startsWith("threads") && !features.threads) {
      throw new Gpt2Error("unsupported", `the engine build "${wanted}" needs a cross-origin isolated page`);
    }
    if (wanted.endsWith("relaxed") && !features.relaxedSimd) {
      throw new Gpt2Error(
        "unsupported",
        `the engine build "${wanted}" needs relaxed SIMD, which this browser lacks`,
      );
    }
    return { variant: wanted, notice: null };
  }
  if (!features.threads) {
    const reason = features.isIsolated
      ? "this browser has no WebAssembly threads"
      : "the page is not cross-origin isolated (COOP and COEP headers)";
    return {
      variant: features.relaxedSimd ? "simd-relaxed" : "simd",
      notice: `Running on one thread: ${reason}.`,
    };
  }
  return { variant: features.relaxedSimd ? "threads-relaxed" : "threads", notice: null };
}

/** Threads to use by default: all cores, but not so many that the bandwidth of memory is only fought over. */
export function defaultThreads(cores: number): number {
  return Math.max(1, Math.min(cores, 8));
}
