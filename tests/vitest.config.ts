import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** No test leaves its spies, globals or clock to the next one. */
export const eachTest = {
  testTimeout: 60_000,
  setupFiles: [join(import.meta.dirname, "support/real-timers.ts")],
  restoreMocks: true,
  unstubGlobals: true,
};

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: [
      "web/**/*.test.ts",
      "compare/**/*.test.ts",
      "weights_tools/**/*.test.ts",
      "repository/**/*.test.ts",
      "text/**/*.test.ts",
      "toolchain/**/*.test.ts",
    ],
    ...eachTest,
    maxWorkers: Math.max(2, availableParallelism() - 1), // with two cores, Vitest alone would start one
    coverage: {
      allowExternal: true, // of tests/; only what a test loads is counted
      reporter: ["json-summary"],
    },
    execArgv: ["--expose-gc"], // tests collect unreferenced models as garbage
  },
});
