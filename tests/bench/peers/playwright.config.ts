import { defineConfig } from "@playwright/test";
import e2e from "../../e2e/playwright.config.js";

/** `npm run compare:gguf`. */
export default defineConfig({
  testDir: ".",
  outputDir: "../../../build/compare",
  workers: 1,
  timeout: 300_000,
  reporter: [["list"]],
  use: { launchOptions: e2e.use?.launchOptions ?? {} },
});
