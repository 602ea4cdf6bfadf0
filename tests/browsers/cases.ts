// The browsers under test, and the build and threads that each of them should use.
import type { Variant } from "../../web/src/shared/types.js";
import { variants } from "../../web/src/shared/types.js";
import type { Browser } from "./browser.js";
import { launchChromium } from "./chromium.js";
import { allTests, kernelTests } from "./engine-tests.js";
import { launchFirefox } from "./firefox.js";
import { launchWebKit } from "./webkit.js";

/** The build and threads that a page uses. */
export interface Choice {
  variant: Variant;
  threads: number;
  notice: RegExp | null;
}

const withoutHeaders = /one thread: the page is not cross-origin isolated/;
const withoutMemory = /one thread: this browser has no WebAssembly threads/;
const relaxed: Choice = { variant: "threads-relaxed", threads: 2, notice: null };
const relaxedAlone: Choice = { variant: "simd-relaxed", threads: 1, notice: withoutHeaders };
const plain: Choice = { variant: "threads", threads: 2, notice: null };
const plainAlone: Choice = { variant: "simd", threads: 1, notice: withoutHeaders };
const noThreads: Choice = { variant: "simd", threads: 1, notice: withoutMemory };

export interface Case {
  name: string;
  launch: () => Promise<Browser>;
  /** The choice on a host with the headers of cross-origin isolation, and on one without them. */
  isolated: Choice;
  plain: Choice;
  /** The choice of the project's page on the plain host, where it installs its service worker. */
  page: Choice;
  /** The place where models are stored. */
  store: "opfs" | "cache-storage";
  /** Builds of the engine whose own tests run there, and GoogleTest's filter of them. */
  engineTests: { variants: readonly Variant[]; filter: string };
  /**
   * Loads that may be repeated, because the browser sometimes hangs under WebDriver while a worker starts another. Of 850
   * loads without WebDriver, none hung.
   */
  mostHangs: number;
}

export const cases: readonly Case[] = [
  {
    name: "Chromium",
    launch: launchChromium,
    isolated: relaxed,
    plain: relaxedAlone,
    page: relaxed,
    store: "opfs",
    engineTests: { variants, filter: allTests },
    mostHangs: 0,
  },
  {
    name: "Firefox",
    launch: launchFirefox,
    isolated: relaxed,
    plain: relaxedAlone,
    page: relaxed,
    store: "opfs",
    engineTests: { variants: ["simd-relaxed"], filter: kernelTests },
    mostHangs: 3,
  },
  {
    name: "WebKitGTK",
    launch: () => launchWebKit(),
    isolated: noThreads,
    plain: plainAlone,
    page: noThreads,
    store: "cache-storage",
    engineTests: { variants: ["simd"], filter: kernelTests },
    mostHangs: 0,
  },
  {
    name: "WebKitGTK with shared memory",
    launch: () => launchWebKit({ JSC_useSharedArrayBuffer: "1" }),
    isolated: plain,
    plain: plainAlone,
    page: plain,
    store: "cache-storage",
    engineTests: { variants: ["threads"], filter: kernelTests },
    mostHangs: 0,
  },
];
