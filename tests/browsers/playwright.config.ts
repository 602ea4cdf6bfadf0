import { defineConfig } from "@playwright/test";
import e2e from "../e2e/playwright.config.js";
import { hangLimits } from "../support/hang-limits.js";

export default defineConfig({
  testDir: ".",
  outputDir: "../../build/browsers",
  forbidOnly: Boolean(process.env.CI),
  workers: 2, // starting takes longer than computing; Firefox fails with more workers
  ...hangLimits,
  reporter: [["list"]],
  use: { launchOptions: e2e.use?.launchOptions ?? {} },
});
