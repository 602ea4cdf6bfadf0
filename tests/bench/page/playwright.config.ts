import { defineConfig } from "@playwright/test";
import e2e from "../../e2e/playwright.config.js";

/** `npm run bench -- fluency`. One page at a time: others would take its processor. */
export default defineConfig({
  ...e2e,
  testDir: ".",
  projects: [{ name: "page" }], // not those of the tests
  outputDir: "../../../build/bench-page",
  retries: 0,
  workers: 1,
  timeout: 180_000,
});
