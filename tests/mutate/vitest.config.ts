// The tests that StrykerJS runs: those of web/src alone, as seen from the root of its copy of the tree.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/web/**/*.test.ts"],
    testTimeout: 10_000,
  },
});
