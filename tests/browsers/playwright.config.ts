import { defineConfig } from "@playwright/test";
import e2e from "../e2e/playwright.config.js";

export default defineConfig({
  testDir: ".",
  outputDir: "../../build/browsers",
  forbidOnly: Boolean(process.env.CI),
  retries: process.env.CI ? 1 : 0,
  workers: 2, // starting takes longer than computing; Firefox fails with more workers
  timeout: 300_000,
  reporter: [["list"]],
  use: { launchOptions: e2e.use?.launchOptions ?? {} },
});
