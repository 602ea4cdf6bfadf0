// The results of a run's tests, from the reports of Vitest and Playwright, and from GoogleTest's output in the log of ctest. A
// log that was cut in the middle still has these at its end.
import { existsSync, readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

/**
 * @typedef {{ name: string, why: string, flaky: boolean }} Failed `flaky` is one that passed when it was run again.
 * @typedef {{ name: string, ms: number }} Timed
 * @typedef {{ skipped: string[], failed: Failed[], times: Timed[] }} Results
 */

/** @param {string} text The beginning of an error's message, without colours. */
const beginning = (text) =>
  stripVTControlCharacters(text)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, 8)
    .map((line) => line.slice(0, 300))
    .join("\n");

/** @param {string} text Vitest's report, as JSON. @returns {Results} */
export function ofVitest(text) {
  /** @type {{ testResults: { name: string, message?: string, assertionResults: { fullName: string, status: string, duration?: number | null, failureMessages?: string[] | null }[] }[] }} */
  const { testResults } = JSON.parse(text);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const unread = testResults.filter(
    ({ message, assertionResults }) => message && assertionResults.length === 0,
  );
  return {
    skipped: tests
      .filter(({ status }) => ["skipped", "pending", "todo", "disabled"].includes(status))
      .map(({ fullName }) => fullName),
    failed: [
      ...unread.map(({ name, message = "" }) => ({ name, why: beginning(message), flaky: false })),
      ...tests
        .filter(({ status }) => status === "failed")
        .map(({ fullName, failureMessages }) => ({
          name: fullName,
          why: beginning(failureMessages?.[0] ?? ""),
          flaky: false,
        })),
    ],
    times: tests.map(({ fullName, duration }) => ({ name: fullName, ms: duration ?? 0 })),
  };
}

/**
 * @typedef {{ status: string, results: { duration: number, error?: { message?: string } }[] }} Test
 * @typedef {{ title: string, specs?: { title: string, tests: Test[] }[], suites?: Suite[] }} Suite
 */

/**
 * Each test with the names of its file and its groups.
 * @param {Suite[]} suites
 * @returns {(Test & { name: string })[]}
 */
const testsOf = (suites) =>
  suites.flatMap(({ title, specs = [], suites: inner = [] }) =>
    [
      ...specs.flatMap((spec) => spec.tests.map((test) => ({ ...test, name: spec.title }))),
      ...testsOf(inner),
    ].map((test) => ({ ...test, name: `${title} ${test.name}` })),
  );

/** @param {string} text Playwright's report, as JSON. @returns {Results} */
export function ofPlaywright(text) {
  /** @type {{ suites: Suite[], errors?: { message?: string }[] }} */
  const { suites, errors = [] } = JSON.parse(text);
  const tests = testsOf(suites);
  return {
    skipped: tests.filter(({ status }) => status === "skipped").map(({ name }) => name),
    failed: [
      ...errors.map(({ message = "" }) => ({
        name: "outside of any test",
        why: beginning(message),
        flaky: false,
      })),
      ...tests
        .filter(({ status }) => status === "unexpected" || status === "flaky")
        .map(({ name, status, results }) => ({
          name,
          why: beginning(results.find(({ error }) => error)?.error?.message ?? ""),
          flaky: status === "flaky",
        })),
    ],
    times: tests.map(({ name, results }) => ({
      name,
      ms: results.reduce((sum, { duration }) => sum + duration, 0),
    })),
  };
}

/** @param {string} log What GoogleTest printed: it names a skipped test twice, and one that is disabled not at all. @returns {Results} */
export function ofGoogleTest(log) {
  const skipped = [...log.matchAll(/^\[ {2}SKIPPED \] (\w\S*?\.\S+?)(?:,? .*)?$/gm)].map(
    ([, name = ""]) => name,
  );
  const disabled = /YOU HAVE (\d+) DISABLED TEST/.exec(log)?.[1];
  return {
    skipped: [...new Set(skipped), ...(disabled ? [`${disabled} disabled ones`] : [])],
    // A test that never ended is among them.
    failed: log
      .split(/^\[ RUN {6}\] /m)
      .slice(1)
      .filter((test) => !/^\[ {7}OK \] |^\[ {2}SKIPPED \] /m.test(test))
      .map((test) => {
        const [name = "", ...printed] = (test.split(/^\[ {2}FAILED {2}\] /m)[0] ?? "").split("\n");
        return { name: name.trim(), why: beginning(printed.join("\n")), flaky: false };
      }),
    times: [...log.matchAll(/^\[ {7}OK \] (\S+?),?(?: .*)? \((\d+) ms\)$/gm)].map(([, name = "", ms]) => ({
      name,
      ms: Number(ms),
    })),
  };
}

/**
 * Applies `read` to the text of `file`. Throws if the run left no file, because skipped tests would then go unnoticed.
 * @template T
 * @param {string} file
 * @param {(text: string) => T} read
 */
export function readReport(file, read) {
  if (!existsSync(file)) throw new Error(`there is no ${file}: what was skipped is not known`);
  return read(readFileSync(file, "utf8"));
}

/**
 * Lines that name each failed test with its step.
 * @param {[string, Failed[]][]} failed
 */
export const failedLines = (failed) =>
  failed.flatMap(([of, tests]) =>
    tests.flatMap(({ name, why, flaky }) => [
      `  ${of}: ${name}${flaky ? " (passed when it was run again)" : ""}`,
      ...why.split("\n").map((line) => `      ${line}`),
    ]),
  );

/** @param {Timed[]} times */
export const slowestFive = (times) =>
  times
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, 5)
    .map(({ name, ms }) => `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
