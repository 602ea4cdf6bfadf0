// The browsers under test, and the build and threads that each of them should use.
import type { Variant } from "../../web/src/shared/types.js";
import type { Browser } from "./browser.js";
import { launchChromium, launchFirefox } from "./puppeteer.js";
import { launchWebKit } from "./webkit.js";

/** The build and threads that a page uses. */
export interface Choice {
  variant: Variant;
  threads: number;
  notice: RegExp | null;
}

const withoutHeaders = /one thread: the page is not cross-origin isolated/;
const withoutMemory = /one thread: this browser has no WebAssembly threads/;
const alone = (variant: Variant, notice: RegExp): Choice => ({ variant, threads: 1, notice });
const many = (variant: Variant): Choice => ({ variant, threads: 2, notice: null });
/** The choices of a browser that has `isolated` on an isolated page; the project's page isolates itself. */
const onHosts = (isolated: Choice, plain: Variant) =>
  ({ isolated, page: isolated, plain: alone(plain, withoutHeaders) }) as const;

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
  /**
   * Loads that may be repeated, because the browser sometimes hangs under WebDriver while a worker starts another. Of 850
   * loads without WebDriver, none hung.
   */
  mostHangs: number;
}

const withRelaxedSimd = { ...onHosts(many("threads-relaxed"), "simd-relaxed"), store: "opfs" } as const;
const webKit = { store: "cache-storage", mostHangs: 0 } as const;
const noThreads = alone("simd", withoutMemory);

export const cases: readonly Case[] = [
  { name: "Chromium", launch: launchChromium, ...withRelaxedSimd, mostHangs: 0 },
  { name: "Firefox", launch: launchFirefox, ...withRelaxedSimd, mostHangs: 3 },
  { name: "WebKitGTK", launch: () => launchWebKit(), ...webKit, ...onHosts(noThreads, "simd") },
  {
    name: "WebKitGTK with shared memory",
    launch: () => launchWebKit({ JSC_useSharedArrayBuffer: "1" }),
    ...webKit,
    ...onHosts(many("threads"), "simd"),
  },
];
/** Each engine once. */
export const engines = cases.slice(0, 3);
/** The engines that the tests of tests/e2e do not run in. */
export const otherEngines = cases.slice(1, 3);
