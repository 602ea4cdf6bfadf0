// Runs a build of the engine's own tests in a browser, and checks that it did.
import { readFileSync, readdirSync } from "node:fs";
import { relative, resolve } from "node:path";
import { expect } from "@playwright/test";
import type { Variant } from "../../web/src/shared/types.js";
import { within, type Browser } from "./browser.js";
import { serve, type StaticHost } from "./static-host.js";

const root = resolve(import.meta.dirname, "../..");
const data = resolve(root, "tests/data");
const patienceMs = 120_000;

/** A host of the built tests, their data and the page that runs them. */
export function serveEngineTests(): Promise<StaticHost> {
  return serve(true, {
    "/build/": resolve(root, "build/wasm/tests"),
    "/browsers/": import.meta.dirname,
    "/data/": data,
  });
}

/** The part of GoogleTest's --gtest_output=json that is used here. */
interface Report {
  testsuites: { name: string; testsuite: TestResult[] }[];
}
interface TestResult {
  name: string;
  result: "COMPLETED" | "SKIPPED" | "SUPPRESSED";
  failures?: { failure: string }[];
}

/** Runs `variant`'s tests with GoogleTest's `filter`, and returns the exit status and a report. */
async function run(browser: Browser, host: StaticHost, variant: Variant, filter: string) {
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
  await browser.open(`${host.origin}/blank.html`);
  const exit = browser.evaluate(
    `new Promise((resolve, reject) => {
      globalThis.lines = [];
      const tests = new Worker("/browsers/engine-tests-worker.js");
      tests.onerror = ({ message }) => reject(new Error(message));
      tests.onmessage = ({ data: { line, error, exit } }) => {
        if (line !== undefined) lines.push(line);
        else if (error !== undefined) reject(new Error(error));
        else resolve(JSON.stringify(exit));
      };
      tests.postMessage(${JSON.stringify(message)});
    })`,
  );
  try {
    const text = await within(patienceMs, `engine_tests-${variant}`, exit);
    return JSON.parse(text) as { status: number; report: Report };
  } catch (error) {
    const lines = browser.evaluate('Promise.resolve(lines.slice(-20).join("\\n"))');
    throw new Error(
      `${String(error)}\nThe tests' last lines:\n${await within(10_000, "asking for them", lines)}`,
      { cause: error },
    );
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

/** Tests that must have run under every filter, besides those of the kernels. */
const contract = [
  "EveryBuild.ComputesTheSameBits",
  "BestKernels.AreThoseOfTheBuild",
  "BestKernels.AreExactOnTheTestMachine",
];

/** Filters in the syntax of GoogleTest. */
export const allTests = "*";
export const kernelTests = ["Kernels.*", "KernelTables.*", ...contract].join(":");

/** Expects that all tests of `variant` that `filter` leaves pass, none is skipped, and the kernels are among them. */
export async function expectTestsToPass(
  browser: Browser,
  host: StaticHost,
  variant: Variant,
  filter: string,
): Promise<void> {
  const { status, report } = await run(browser, host, variant, filter);
  const results = report.testsuites.flatMap(({ name: suite, testsuite }) =>
    testsuite.map((result) => ({ ...result, name: `${suite}.${result.name}` })),
  );
  const failures = results.flatMap(
    ({ name, failures: found = [] }) => found.map(({ failure }) => `${name}: ${failure.slice(0, 500)}`), // without whole vectors
  );
  expect(failures).toEqual([]);
  expect(status).toBe(0);
  expect(results.filter(({ result }) => result !== "COMPLETED").map(({ name }) => name)).toEqual([]);
  const names = results.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...contract, ...testsOf("KERNEL")]));
  const relaxed = names.filter((name) => name.includes("_Relaxed"));
  expect(relaxed).toEqual(variant.endsWith("relaxed") ? testsOf("KERNEL_RELAXED") : []);
  console.log(`${browser.name}, ${variant}: ${names.length} tests, ${relaxed.length} of relaxed kernels`);
}
