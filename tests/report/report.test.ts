// What `npm test` says at its end.
import { describe, expect, it } from "vitest";
import { coverageLines } from "./coverage.mjs";
import { failedInGoogleTest, failedInPlaywright, failedInVitest, failedLines } from "./failed.mjs";
import { skippedInGoogleTest, skippedInPlaywright, skippedInVitest } from "./skipped.mjs";
import { slowestFive, timesInGoogleTest, timesInPlaywright, timesInVitest } from "./slowest.mjs";

describe("skipped tests are named", () => {
  it("skipped tests are named from Vitest's report", () => {
    const assertionResults = [
      { fullName: "a model loads", status: "passed" },
      { fullName: "trained models generate", status: "skipped" },
      { fullName: "a plan", status: "todo" },
    ];
    const report = { testResults: [{ assertionResults }, { assertionResults: [] }] };
    expect(skippedInVitest(report)).toEqual(["trained models generate", "a plan"]);
  });

  it("skipped tests are named from Playwright's report, with the names of their groups", () => {
    const skipped = { title: "reads /proc", tests: [{ status: "skipped" }] };
    const ran = { title: "runs", tests: [{ status: "expected" }] };
    const inner = { title: "on Linux", specs: [skipped, ran] };
    const report = { suites: [{ title: "requests.spec.ts", specs: [ran], suites: [inner] }] };
    expect(skippedInPlaywright(report)).toEqual(["requests.spec.ts on Linux reads /proc"]);
  });

  it("skipped tests are named from GoogleTest's output, once each", () => {
    const log = [
      "[ RUN      ] Threads.Sleep",
      "engine/base/thread_pool_test.cc:7: Skipped",
      "no threads here",
      "[  SKIPPED ] Threads.Sleep (0 ms)",
      "[       OK ] Threads.Run (0 ms)",
      "[  SKIPPED ] 1 test, listed below:",
      "[  SKIPPED ] Threads.Sleep",
      "  YOU HAVE 2 DISABLED TESTS",
    ].join("\n");
    expect(skippedInGoogleTest(log)).toEqual(["Threads.Sleep", "2 disabled ones"]);
    expect(skippedInGoogleTest("[  PASSED  ] 3 tests.")).toEqual([]);
  });
});

describe("coverage", () => {
  it("the coverage report names the ten least covered files, worst first, after all of them together", () => {
    const files = Array.from({ length: 12 }, (_, i) => ({ file: `${i}.cc`, lines: 12, covered: i }));
    const lines = coverageLines("engine", files);
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe("  45.8 %  engine (66 of 144 lines)");
    expect(lines[1]).toBe("   0.0 %  0.cc (0 of 12 lines)");
    expect(lines[10]).toContain("9.cc");
  });

  it("the coverage report counts a file without code as covered", () => {
    expect(coverageLines("web", [{ file: "types.ts", lines: 0, covered: 0 }])[0]).toContain("100.0 %");
  });
});

describe("the slowest tests", () => {
  it("the slowest tests are found in each runner's report, and sorted", () => {
    const vitest = {
      testResults: [{ assertionResults: [{ fullName: "a b", duration: 1200 }, { fullName: "c" }] }],
    };
    const playwright = {
      suites: [
        {
          title: "x.spec.ts",
          suites: [
            {
              title: "group",
              specs: [{ title: "test", tests: [{ results: [{ duration: 30 }, { duration: 40 }] }] }],
            },
          ],
        },
      ],
    };
    const log =
      "[ RUN      ] S.T\n[       OK ] S.T (250 ms)\n[       OK ] P/S.U/1, where GetParam() = 2 (3 ms)\n";
    expect(timesInPlaywright(playwright)).toEqual([{ name: "x.spec.ts group test", ms: 70 }]);
    expect(timesInGoogleTest(log)).toEqual([
      { name: "S.T", ms: 250 },
      { name: "P/S.U/1", ms: 3 },
    ]);
    const all = [...timesInVitest(vitest), ...timesInPlaywright(playwright), ...timesInGoogleTest(log)];
    expect(slowestFive([...all, { name: "last", ms: 1 }])).toEqual([
      "     1.2 s  a b",
      "     0.3 s  S.T",
      "     0.1 s  x.spec.ts group test",
      "     0.0 s  P/S.U/1",
      "     0.0 s  last",
    ]);
  });
});

describe("failed tests are named, with the beginning of the reason", () => {
  it("failed tests are named from Vitest's report, including files that could not run", () => {
    const failed = {
      fullName: "adds",
      status: "failed",
      failureMessages: ["\u001b[31mexpected 3\u001b[39m\n\n at x"],
    };
    const report = {
      testResults: [
        {
          name: "a.test.ts",
          message: "",
          assertionResults: [failed, { fullName: "loads", status: "passed" }],
        },
        { name: "b.test.ts", message: "no such module", assertionResults: [] },
      ],
    };
    expect(failedInVitest(report)).toEqual([
      { name: "adds", why: "expected 3\n at x", flaky: false },
      { name: "b.test.ts", why: "no such module", flaky: false },
    ]);
  });

  it("failed tests are named from Playwright's report, including those that passed when repeated", () => {
    const results = [{ error: { message: "never: ready" } }, {}];
    const spec = (title: string, status: string) => ({ title, tests: [{ status, results }] });
    const inner = { title: "WebKitGTK", specs: [spec("stores", "flaky"), spec("reads", "unexpected")] };
    const suites = [{ title: "core.spec.ts", specs: [spec("runs", "expected")], suites: [inner] }];
    expect(failedInPlaywright({ suites, errors: [{ message: "no server" }] })).toEqual([
      { name: "outside of any test", why: "no server", flaky: false },
      { name: "core.spec.ts WebKitGTK stores", why: "never: ready", flaky: true },
      { name: "core.spec.ts WebKitGTK reads", why: "never: ready", flaky: false },
    ]);
  });

  it("failed tests are named from GoogleTest's output, including one that never ended", () => {
    const log = [
      "[ RUN      ] A.Passes",
      "[       OK ] A.Passes (0 ms)",
      "[ RUN      ] A.Skips",
      "[  SKIPPED ] A.Skips (0 ms)",
      "[ RUN      ] A.Fails",
      "x.cc:3: Failure",
      "[  FAILED  ] A.Fails (1 ms)",
      "[ RUN      ] A.Crashes",
      "Segmentation fault",
    ].join("\n");
    expect(failedInGoogleTest(log)).toEqual([
      { name: "A.Fails", why: "x.cc:3: Failure", flaky: false },
      { name: "A.Crashes", why: "Segmentation fault", flaky: false },
    ]);
  });

  it("failed tests are named with the step before each", () => {
    const failed = { name: "stores", why: "never\nready", flaky: true };
    expect(
      failedLines([
        ["web", []],
        ["browsers", [failed]],
      ]),
    ).toEqual(["  browsers: stores (passed when it was run again)", "      never", "      ready"]);
  });
});
