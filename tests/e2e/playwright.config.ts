import { defineConfig } from "@playwright/test";
import { hangLimits } from "../support/hang-limits.js";
import { headlessChromium } from "../support/headless-chromium.js";

/** What most visitors of the page use. The step `e2e` runs these; `e2e-rest` runs all others, which takes about four times as long. */
const often = [
  "addresses",
  "desk",
  "download-size",
  "kept-text",
  "page",
  "spoken",
  "suggestions",
  "writing",
].map((name) => `${name}.spec.ts`);

const port = Number(process.env.PORT ?? 4183);

export default defineConfig({
  testDir: ".",
  outputDir: "../../build/e2e",
  forbidOnly: Boolean(process.env.CI),
  workers: 2, // pages compute on all cores, but wait for most of a test
  ...hangLimits,
  reporter: [["list"]],
  use: {
    serviceWorkers: "block", // page.route does not see requests that go through one; offline.spec.ts tests it
    bypassCSP: true, // tests bring functions into the page as text; page-policy.spec.ts does without
    baseURL: `http://localhost:${port}/`,
    // The page has already loaded its model in this browser; first-visit.spec.ts tests a first visit.
    storageState: {
      cookies: [],
      origins: [
        { origin: `http://localhost:${port}`, localStorage: [{ name: "gpt2-had-model /", value: "1" }] },
      ],
    },
    launchOptions: {
      ...headlessChromium,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-quic",
        "--js-flags=--expose-gc", // tests collect unreferenced models as garbage
      ],
    },
  },
  projects: [
    { name: "e2e", testMatch: often },
    { name: "e2e-rest", testIgnore: often },
  ],
  webServer: {
    command: `npx vite preview -c ../../web/vite.config.ts --port ${port} --strictPort`,
    cwd: import.meta.dirname, // also if another configuration includes this one
    port,
    reuseExistingServer: false,
  },
});
