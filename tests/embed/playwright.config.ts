import { defineConfig } from "@playwright/test";
import { hangLimits } from "../support/hang-limits.js";
import { headlessChromium } from "../support/headless-chromium.js";

/** Tests that install what they need from the registry, which takes minutes. The light apps of tools.spec.ts are left out. */
const weekly = /\b(examples|one-file)\.spec\.ts|@weekly/;

export default defineConfig({
  testDir: ".",
  outputDir: "../../build/embed-results",
  globalSetup: "./global-setup.ts",
  forbidOnly: Boolean(process.env.CI),
  workers: 1, // pages compute on all cores
  ...hangLimits,
  reporter: [["list"]],
  use: {
    launchOptions: {
      ...headlessChromium,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic"],
    },
  },
  projects: [
    { name: "quick", grepInvert: weekly },
    { name: "bundlers", grep: weekly },
  ],
});
