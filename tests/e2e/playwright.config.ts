import { defineConfig } from "@playwright/test";
import { headlessChromium } from "../support/headless-chromium.js";

const port = Number(process.env.PORT ?? 4183);

export default defineConfig({
  testDir: ".",
  outputDir: "../../build/e2e",
  forbidOnly: Boolean(process.env.CI),
  retries: process.env.CI ? 1 : 0, // pages that compute on every core of a busy machine; reported as flaky
  workers: 2, // pages compute on all cores, but wait for most of a test
  timeout: 60_000,
  reporter: [["list"]],
  use: {
    serviceWorkers: "block", // requests that go through one pass by page.route; offline.spec.ts tests it
    bypassCSP: true, // tests bring functions into the page as text; page-policy.spec.ts does without
    baseURL: `http://localhost:${port}/`,
    // The page has had its model in this browser; first-visit.spec.ts tests what others see.
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
  webServer: {
    command: `npx vite preview -c ../../web/vite.config.ts --port ${port} --strictPort`,
    cwd: import.meta.dirname, // also where another configuration takes this one over
    port,
    reuseExistingServer: false,
  },
});
