import { defineConfig } from "@playwright/test";
import { hangLimits } from "../support/hang-limits.js";
import { headlessChromium } from "../support/headless-chromium.js";

const port = Number(process.env.PORT ?? 4193);

/** The site below a sub-path of a host: `npm run docs:build -- --base /docs/`. */
export default defineConfig({
  testDir: ".",
  outputDir: "../../build/docs-results",
  forbidOnly: Boolean(process.env.CI),
  workers: 2,
  ...hangLimits,
  reporter: [["list"]],
  use: {
    baseURL: `http://localhost:${port}/docs/`,
    launchOptions: {
      ...headlessChromium,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic"],
    },
  },
  webServer: {
    command: `npx vite preview --outDir ../../build/docs --base /docs/ --port ${port} --strictPort`,
    port,
    reuseExistingServer: false,
  },
});
