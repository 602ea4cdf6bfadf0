// `npm run mutate:web`: StrykerJS plants small faults in web/src, and lists those that no test in tests/web notices.

export default {
  mutate: ["web/src/**/*.ts", "!web/src/**/*.d.ts"],
  testRunner: "vitest",
  vitest: { configFile: "tests/mutate/vitest.config.ts" },
  testRunnerNodeArgs: ["--expose-gc"], // as in tests/vitest.config.ts
  ignoreStatic: true, // a fault in what runs at import takes a run of all tests
  // Not copied. Of what is built, the tests need the modules, and the native tool to compare with.
  ignorePatterns: [
    ...["/build/**", "!/build/wasm/engine/*", "!/build/native/weights_tools/gpt2-weights"],
    ...["/.cache", "/web/dist"],
  ],
  tempDirName: "build/mutate-web",
  reporters: ["progress", "clear-text", "html"],
  clearTextReporter: { reportTests: false },
  htmlReporter: { fileName: "build/mutate-web.html" },
};
