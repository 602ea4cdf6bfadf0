// What this page supports of what the engine can use, and how to enable the rest. Computed before anything is fetched.
import { relaxedSimd, simd, threads } from "wasm-feature-detect";
import { oldBrowser, wasmForbidden } from "../shared/failures.js";
import { formatBytes } from "../shared/format-bytes.js";
import { isolationRemedy, whyNotIsolated } from "../shared/isolation.js";
import type { ModelInfo } from "../shared/types.js";

/** A feature that this page has or lacks. */
export interface Capability {
  /** Whether the page has it. */
  has: boolean;
  /** Why, as a sentence. */
  reason: string;
  /** The header, setting or change that enables it; null if the page has it or nothing can enable it. */
  remedy: string | null;
}

/** The features that this page has and lacks. */
export interface Environment {
  /** WebAssembly with SIMD, which the engine requires. */
  simd: Capability;
  /** Faster arithmetic with the same results. */
  relaxedSimd: Capability;
  /** Cross-origin isolation, which threads require. */
  isolation: Capability;
  /** Several threads. */
  threads: Capability;
  /** Whether the browser stores files for this page. */
  storage: StorageCapability;
  /** Whether GPT-2 124M fits. */
  memory: MemoryCapability;
}

/** Whether the browser stores files for this page. */
export interface StorageCapability extends Capability {
  /** Bytes that this origin may still store; null if the browser gives no estimate. */
  freeBytes: number | null;
}

/** Whether GPT-2 124M fits. */
export interface MemoryCapability extends Capability {
  /** Bytes that the memory of one engine may grow to. */
  mostBytes: number;
}

/** As Environment, for a loaded model. */
export interface Explanation extends Environment {
  /** Whether the model runs as fast as this device allows. */
  speed: Capability;
}

/** The facts to describe. */
export interface Facts {
  /** "Node.js" or "Deno"; undefined in a browser. */
  runtime?: string | undefined;
  webAssembly: "runs" | "missing" | "forbidden";
  simd: boolean;
  relaxedSimd: boolean;
  sharedMemory: boolean;
  isIsolated: boolean;
  isSecure: boolean;
  isFramed: boolean;
  /** By its Permissions-Policy. */
  isForbidden: boolean;
  cores: number | undefined;
  /** undefined if there is no storage. */
  storage: { freeBytes: number | null } | undefined;
  mostBytes: number;
}

const has = (reason: string): Capability => ({ has: true, reason, remedy: null });
const misses = (reason: string, remedy: string | null): Capability => ({ has: false, reason, remedy });
/** Where the module runs, as the subject of a sentence. */
const here = ({ runtime = "This browser" }: Facts) => runtime;
/** GPT-2 124M in 8 bits takes 221 MB. */
const smallBytes = 256 * 1024 * 1024;

function describeSimd(facts: Facts): Capability {
  switch (facts.webAssembly) {
    case "missing":
      return misses(
        `${here(facts)} has no WebAssembly, or it is turned off (Lockdown Mode, --jitless).`,
        facts.runtime ? null : oldBrowser,
      );
    case "forbidden":
      return misses("The page's content security policy forbids WebAssembly.", wasmForbidden);
    case "runs":
      if (facts.simd) return has(`${here(facts)} runs WebAssembly with SIMD.`);
      return misses(`${here(facts)} has no WebAssembly SIMD.`, facts.runtime ? null : oldBrowser);
  }
}

function describeIsolation(facts: Facts): Capability {
  if (facts.runtime) return has(`${facts.runtime} shares memory without isolation.`);
  if (facts.isIsolated) return has("The page is cross-origin isolated.");
  return misses(sentence(whyNotIsolated(facts)), isolationRemedy(facts));
}

const sentence = (clause: string) => `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;

/** Describes `facts` in sentences. */
export function describeEnvironment(facts: Facts): Environment {
  const isolation = describeIsolation(facts);
  const cores = facts.cores === undefined ? "an unknown number of cores" : `${facts.cores} cores`;
  let withThreads = has(`The engine can compute on all of ${cores}.`);
  if (!isolation.has) withThreads = { ...isolation };
  else if (!facts.sharedMemory) withThreads = misses(`${here(facts)} has no WebAssembly threads.`, null);
  return {
    simd: describeSimd(facts),
    relaxedSimd:
      facts.webAssembly === "runs" && facts.relaxedSimd
        ? has(`${here(facts)} has relaxed SIMD.`)
        : misses(
            `${here(facts)} has no relaxed SIMD: the results are the same, but slower.`,
            facts.runtime === "Node.js" ? "Node.js 22 or newer" : null,
          ),
    isolation,
    threads: withThreads,
    storage: { ...describeStorage(facts), freeBytes: facts.storage?.freeBytes ?? null },
    memory: {
      ...(facts.mostBytes >= smallBytes
        ? has(`One engine may grow to ${formatBytes(facts.mostBytes)}; GPT-2 124M takes 221 MB in 8 bits.`)
        : misses(
            `${here(facts)} gives one engine ${formatBytes(facts.mostBytes)}; GPT-2 124M takes 221 MB in 8 bits.`,
            facts.runtime ? "load a smaller model" : "close other tabs, or load a smaller model",
          )),
      mostBytes: facts.mostBytes,
    },
  };
}

function describeStorage({ storage, isSecure, runtime }: Facts): Capability {
  if (runtime)
    return misses(
      `${runtime} stores no model: each load reads the files again.`,
      "download the model's files once, and load their folder",
    );
  if (storage) {
    const free = storage.freeBytes === null ? "" : ` (${formatBytes(storage.freeBytes)} are free)`;
    return has(`The browser can store files for this page${free}.`);
  }
  if (!isSecure)
    return misses("The page is served over http, where nothing can be stored.", "serve the page over https");
  return misses("This browser, or this private window, stores nothing for the page.", null);
}

/** The largest memory that one engine may grow to. Allocates none of it. */
function mostMemory(): number {
  for (let pages = 65536; pages >= 1024; pages /= 2) {
    try {
      new WebAssembly.Memory({ initial: 0, maximum: pages });
      return pages * 65536;
    } catch {
      // Try a smaller size.
    }
  }
  return 0;
}

async function freeStorage(): Promise<Facts["storage"]> {
  try {
    const { quota, usage } = await navigator.storage.estimate();
    return { freeBytes: quota === undefined ? null : quota - (usage ?? 0) };
  } catch {
    return undefined; // storage is missing or refused
  }
}

function tryWebAssembly(): Facts["webAssembly"] {
  if (typeof WebAssembly === "undefined") return "missing";
  try {
    new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)); // an empty module
    return "runs";
  } catch {
    return "forbidden";
  }
}

/** Whether the page's Permissions-Policy forbids isolation. Only Chromium tells. */
function isIsolationForbidden(): boolean {
  const { document } = globalThis as {
    document?: { featurePolicy?: { allowsFeature(name: string): boolean } };
  };
  return document?.featurePolicy?.allowsFeature("cross-origin-isolated") === false;
}

/** Collects the facts of this page and describes them. */
export async function explainEnvironment(): Promise<Environment> {
  const webAssembly = tryWebAssembly();
  const runs = webAssembly === "runs";
  const { document, location } = globalThis as Partial<typeof globalThis>;
  const [hasSimd, hasRelaxed, hasThreads, storage] = await Promise.all([
    runs && simd(),
    runs && relaxedSimd(),
    runs && threads(),
    freeStorage(),
  ]);
  return describeEnvironment({
    runtime: document || location ? undefined : "Deno" in globalThis ? "Deno" : "Node.js",
    webAssembly,
    simd: hasSimd,
    relaxedSimd: hasRelaxed,
    sharedMemory: hasThreads,
    isIsolated: (globalThis as Partial<typeof globalThis>).crossOriginIsolated === true,
    isSecure: (globalThis as Partial<typeof globalThis>).isSecureContext === true,
    isFramed: typeof window !== "undefined" && window.parent !== window,
    isForbidden: isIsolationForbidden(),
    cores: (globalThis as Partial<typeof globalThis>).navigator?.hardwareConcurrency, // a server may have no navigator
    storage,
    mostBytes: runs ? mostMemory() : 0,
  });
}

/** Explains the model's speed from `info`, and adds what this page lacks. */
export function explainSpeed(info: ModelInfo, environment: Environment): Explanation {
  const { variant, threads: count, notice } = info;
  const running = `The engine runs as "${variant}" on ${count === 1 ? "one thread" : `${count} threads`}.`;
  const missing = [environment.threads, environment.relaxedSimd].filter((capability) => !capability.has);
  const reason = [running, notice ?? "", ...missing.map((capability) => capability.reason)];
  const remedies = new Set(missing.flatMap(({ remedy }) => remedy ?? []));
  const isFast = notice === null && missing.length === 0;
  return {
    ...environment,
    speed: {
      has: isFast,
      reason: reason.filter((text) => text !== "").join(" "),
      remedy: [...remedies].join("\n") || null,
    },
  };
}
