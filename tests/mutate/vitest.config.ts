// The tests of web/src, as StrykerJS runs them in its copy of the tree.
import { defineConfig } from "vitest/config";
import { eachTest } from "../vitest.config.js";

export default defineConfig({
  test: { ...eachTest, include: ["tests/web/**/*.test.ts"], exclude: ["tests/web/page/**"] },
});
