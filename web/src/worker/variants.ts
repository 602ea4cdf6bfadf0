// Chooses the build of the engine for this browser.
import { relaxedSimd, simd, threads } from "wasm-feature-detect";
import { LoadError } from "../shared/errors.js";
import { oldBrowser } from "../shared/failures.js";
import { whyNotIsolated } from "../shared/isolation.js";
import type { ThreadChoice, ThreadChoices } from "../shared/protocol.js";
import type { Variant } from "../shared/types.js";

export interface Features {
  webAssembly: boolean;
  simd: boolean;
  relaxedSimd: boolean;
  /** SharedArrayBuffer and wasm atomics, which need cross-origin isolation. */
  threads: boolean;
  isIsolated: boolean;
  /** Served over https or by localhost, which isolation requires. */
  isSecure: boolean;
}

export async function detectFeatures(): Promise<Features> {
  const { crossOriginIsolated: isIsolated, isSecureContext: isSecure } = self;
  if (typeof WebAssembly === "undefined") {
    return { webAssembly: false, simd: false, relaxedSimd: false, threads: false, isIsolated, isSecure };
  }
  const [hasSimd, hasRelaxed, hasThreads] = await Promise.all([simd(), relaxedSimd(), threads()]);
  return {
    webAssembly: true,
    simd: hasSimd,
    relaxedSimd: hasRelaxed,
    threads: hasThreads && isIsolated,
    isIsolated,
    isSecure,
  };
}

/** The build to use, and what to tell the user if it is not the fastest. */
export function chooseVariant(
  features: Features,
  wanted: Variant | undefined,
): { variant: Variant; notice: string | null } {
  if (!features.webAssembly) {
    throw new LoadError(
      "unsupported",
      "this browser has no WebAssembly, or it is turned off (Lockdown Mode)",
    );
  }
  if (!features.simd) {
    throw new LoadError("unsupported", `this browser has no WebAssembly SIMD: ${oldBrowser}`);
  }
  if (wanted !== undefined) {
    if (wanted.startsWith("threads") && !features.threads) {
      throw new LoadError("unsupported", `the engine build "${wanted}" needs a cross-origin isolated page`);
    }
    if (wanted.endsWith("relaxed") && !features.relaxedSimd) {
      throw new LoadError(
        "unsupported",
        `the engine build "${wanted}" needs relaxed SIMD, which this browser lacks`,
      );
    }
    return { variant: wanted, notice: null };
  }
  if (!features.threads) {
    const reason = features.isIsolated
      ? "this browser has no WebAssembly threads"
      : whyNotIsolated({ isSecure: features.isSecure, isFramed: false });
    return {
      variant: features.relaxedSimd ? "simd-relaxed" : "simd",
      notice: `Running on one thread: ${reason}.`,
    };
  }
  return { variant: features.relaxedSimd ? "threads-relaxed" : "threads", notice: null };
}

/** A cautious guess: threads share the memory that decoding waits for, and no machine with more cores was available. */
const mostThreads = 16;

/** The number of threads to start. `measureAs` is the name to store a measurement by, if one is needed. */
export interface ChosenThreads {
  threads: number;
  measureAs?: string;
  known?: ThreadChoice;
}

/**
 * Models of about the same size (within a factor of four) share a measurement. More threads than cores are measured too:
 * they would wait for each other, unless the browser reports fewer cores than the device has.
 */
export function chooseThreads(
  hasThreads: boolean,
  wanted: { threads: number | undefined; threadChoices: ThreadChoices },
  cores: number | undefined, // some browsers do not report it
  weightBytes: number,
): ChosenThreads {
  if (!hasThreads) return { threads: 1 };
  const asked = wanted.threads;
  if (asked !== undefined && asked <= (cores ?? asked)) return { threads: asked };
  const most = asked ?? Math.max(1, Math.min(cores ?? 1, mostThreads));
  if (most === 1) return { threads: 1 };
  const on = asked === undefined ? "" : `${asked} threads on `;
  const key = `${on}${cores} cores, 4^${Math.round(Math.log2(Math.max(1, weightBytes)) / 2)} bytes`;
  const known = wanted.threadChoices[key];
  if (known !== undefined) return { threads: Math.min(known.threads, most), known: { key, ...known } };
  return { threads: most, measureAs: key };
}
