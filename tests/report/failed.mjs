// Which tests failed, and why: from the reports of Vitest and Playwright, and from what ctest kept of GoogleTest's output.
// A log that was cut in the middle still has these at its end.
import { stripVTControlCharacters } from "node:util";

/** @typedef {{ name: string, why: string, flaky: boolean }} Failed `flaky` is one that passed when it was run again. */

/** @param {string} text The beginning of an error's message, without colours. */
const beginning = (text) =>
  stripVTControlCharacters(text)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, 8)
    .map((line) => line.slice(0, 300))
    .join("\n");

/**
 * @param {{ testResults: { name?: string, message?: string, assertionResults: { fullName: string, status: string, failureMessages?: string[] | null }[] }[] }} report Vitest's, as JSON.
 * @returns {Failed[]} Tests, and files that could not be run.
 */
export const failedInVitest = ({ testResults }) =>
  testResults.flatMap(({ name = "", message = "", assertionResults }) => [
    ...(assertionResults.length === 0 && message !== ""
      ? [{ name, why: beginning(message), flaky: false }]
      : []),
    ...assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages }) => ({
        name: fullName,
        why: beginning(failureMessages?.[0] ?? ""),
        flaky: false,
      })),
  ]);

/**
 * @typedef {{ status: string, results: { error?: { message?: string } }[] }} Test
 * @typedef {{ title: string, specs?: { title: string, tests: Test[] }[], suites?: Suite[] }} Suite
 * @param {{ suites: Suite[], errors?: { message?: string }[] }} report Playwright's, as JSON.
 * @returns {Failed[]} Tests, and what went wrong outside of any.
 */
export const failedInPlaywright = ({ suites, errors = [] }) => [
  ...errors.map(({ message = "" }) => ({
    name: "outside of any test",
    why: beginning(message),
    flaky: false,
  })),
  ...suites.flatMap(({ title, specs = [], suites: inner = [] }) =>
    [
      ...specs.flatMap((spec) =>
        spec.tests
          .filter(({ status }) => status === "unexpected" || status === "flaky")
          .map(({ status, results }) => ({
            name: spec.title,
            why: beginning(results.find(({ error }) => error)?.error?.message ?? ""),
            flaky: status === "flaky",
          })),
      ),
      ...failedInPlaywright({ suites: inner }),
    ].map(({ name, ...rest }) => ({ name: `${title} ${name}`, ...rest })),
  ),
];

/**
 * @param {string} log What GoogleTest printed.
 * @returns {Failed[]} Tests, and one that never ended.
 */
export const failedInGoogleTest = (log) =>
  log
    .split(/^\[ RUN {6}\] /m)
    .slice(1)
    .filter((test) => !/^\[ {7}OK \] |^\[ {2}SKIPPED \] /m.test(test))
    .map((test) => {
      const [name = "", ...printed] = (test.split(/^\[ {2}FAILED {2}\] /m)[0] ?? "").split("\n");
      return { name: name.trim(), why: beginning(printed.join("\n")), flaky: false };
    });

/**
 * Lines that tell of `failed`, the name of each test's step before it.
 * @param {[string, Failed[]][]} failed
 */
export const failedLines = (failed) =>
  failed.flatMap(([of, tests]) =>
    tests.flatMap(({ name, why, flaky }) => [
      `  ${of}: ${name}${flaky ? " (passed when it was run again)" : ""}`,
      ...why.split("\n").map((line) => `      ${line}`),
    ]),
  );
