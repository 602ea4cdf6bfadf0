// The engine's own tests: in Chromium all of them in each build that a page chooses from, elsewhere those
// of the kernels. Node.js runs only `simd`: the others are made for workers of a page, and its relaxed
// SIMD is wrong.
import { readFileSync, readdirSync } from "node:fs";
import { relative, resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { variants, type Variant } from "../../web/src/shared/types.js";
import { root } from "../e2e/model.js";
import { cases } from "./cases.js";
import { isolation, serve, type StaticHost } from "./static-host.js";
import { inBrowsers, type Tab } from "./tab.js";

const data = resolve(root, "tests/data");
/** Within this time the tests print a line, however busy the machine is. */
const patienceMs = 150_000;

/** Tests that must have run under every filter, besides those of the kernels. */
const contract = [
  "EveryBuild.ComputesTheSameBits",
  "BestKernels.AreThoseOfTheBuild",
  "BestKernels.AreExactOnTheTestMachine",
];
/** The builds whose tests run in a browser, and GoogleTest's filter of them. */
const kernels = ["Kernels.*", "KernelTables.*", ...contract].join(":");
const chosen: Record<string, { builds: readonly Variant[]; filter: string }> = {
  Chromium: { builds: variants, filter: "*" },
  Firefox: { builds: ["simd-relaxed"], filter: kernels },
  WebKitGTK: { builds: ["simd"], filter: kernels },
  "WebKitGTK with shared memory": { builds: ["threads"], filter: kernels },
};

/** The part of GoogleTest's --gtest_output=json that is used here. */
interface Report {
  testsuites: { name: string; testsuite: TestResult[] }[];
}
interface TestResult {
  name: string;
  result: "COMPLETED" | "SKIPPED" | "SUPPRESSED";
  failures?: { failure: string }[];
}

/** What the page knows of the tests that run in it. */
interface State {
  lines: string[];
  exit?: { status: number; report: Report };
  error?: string;
}

/** A host of the built tests, their data and the worker that runs them. */
let host: StaticHost;
test.beforeAll(async () => {
  const builds = resolve(root, "build/wasm/tests");
  const folders = { "/build/": builds, "/browsers/": import.meta.dirname, "/data/": data };
  host = await serve(folders, isolation);
});
test.afterAll(() => host.close());

/** Runs `variant`'s tests with GoogleTest's `filter`, and returns the exit status and a report. */
async function run(tab: Tab, variant: Variant, filter: string) {
  const files = readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => resolve(entry.parentPath, entry.name));
  const report = "/report.json";
  const message = {
    module: `/build/engine_tests-${variant}.mjs`,
    files: files.map((path) => [path, `/data/${relative(data, path)}`]),
    report,
    options: [`--gtest_filter=${filter}`, `--gtest_output=json:${report}`],
  };
  await tab.open(`${host.origin}/blank.html`);
  await tab.run((given) => {
    const state: State = { lines: [] };
    const tests = new Worker("/browsers/engine-tests-worker.js");
    tests.onerror = ({ message: error }) => Object.assign(state, { error });
    tests.onmessage = ({ data: { line, ...end } }: MessageEvent<{ line?: string }>) => {
      if (line === undefined) Object.assign(state, end);
      else state.lines.push(line);
    };
    tests.postMessage(given);
    Reflect.set(globalThis, "engineTests", state);
  }, message);
  for (let seen = -1, since = performance.now(); ;) {
    const { lines, exit, error } = await tab.run(() => Reflect.get(globalThis, "engineTests") as State);
    const waits = lines.filter((line) => line.startsWith("[ WAITED"));
    if (exit) {
      if (waits.length > 0) console.log(waits.join("\n"));
      return exit;
    }
    const last = () => `the last lines of engine_tests-${variant}:\n${lines.slice(-20).join("\n")}`;
    if (error !== undefined) throw new Error(`${error}; ${last()}`);
    const printed = lines.length - waits.length;
    if (printed > seen) [seen, since] = [printed, performance.now()];
    else if (performance.now() - since > patienceMs) throw new Error(`it hangs; ${last()}`);
    await new Promise((later) => setTimeout(later, 500));
  }
}

/** The names of the tests that kernels.inc makes of one of its two macros. */
function testsOf(macro: "KERNEL" | "KERNEL_RELAXED"): string[] {
  const list = readFileSync(resolve(root, "engine/kernels/kernels.inc"), "utf8");
  return [...list.matchAll(new RegExp(`^${macro}\\((\\w+)(?:, (\\w+))?\\)`, "gm"))].flatMap(
    ([, operation, isa]) =>
      (isa === undefined ? ["RelaxedSimd", "RelaxedPairs"] : [isa]).map(
        (one) => `Kernels.${operation}_${one}`,
      ),
  );
}

inBrowsers(cases, (tab, { name }) => {
  const { builds, filter } = chosen[name] ?? { builds: [], filter: "" };
  for (const variant of builds) {
    test(`engine_tests pass as ${variant}`, async () => {
      test.setTimeout(0); // `run` notices when they hang
      const { status, report } = await run(tab, variant, filter);
      const results = report.testsuites.flatMap(({ name: suite, testsuite }) =>
        testsuite.map((result) => ({ ...result, name: `${suite}.${result.name}` })),
      );
      const failures = results.flatMap(
        ({ name: one, failures: found = [] }) =>
          found.map(({ failure }) => `${one}: ${failure.slice(0, 500)}`), // without whole vectors
      );
      expect(failures).toEqual([]);
      expect(status).toBe(0);
      expect(results.filter(({ result }) => result !== "COMPLETED")).toEqual([]);
      const names = results.map((each) => each.name);
      expect(names).toEqual(expect.arrayContaining([...contract, ...testsOf("KERNEL")]));
      const relaxed = names.filter((each) => each.includes("_Relaxed"));
      expect(relaxed).toEqual(variant.endsWith("relaxed") ? testsOf("KERNEL_RELAXED") : []);
      console.log(
        `${tab.browser.name}, ${variant}: ${names.length} tests, ${relaxed.length} of relaxed kernels`,
      );
    });
  }
});
