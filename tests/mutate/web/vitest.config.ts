// The tests of web/src, as run.mjs starts them in its copy of the tree.
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/web/**/*.test.ts"],
    runner: join(import.meta.dirname, "planting-runner.ts"),
    pool: "threads", // which end with the process
    maxWorkers: 1,
    testTimeout: 600_000, // the runner has its own limit
    reporters: ["dot"],
    silent: true,
    dangerouslyIgnoreUnhandledErrors: true, // what a fault leaves behind
  },
});
