import { defineConfig } from "@playwright/test";
import e2e from "../e2e/playwright.config.js";

/** `SECONDS=300 SEED=7 npm run soak`: one page alone, whose visitors use every core. */
export default defineConfig({
  ...e2e,
  testDir: ".",
  projects: [{ name: "soak" }],
  outputDir: "../../build/soak",
  timeout: 0, // a visitor's action has a limit of its own
});
