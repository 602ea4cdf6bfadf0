// Which tests were skipped: from the reports of Vitest and Playwright, and from what ctest kept of GoogleTest's output.
import { existsSync, readFileSync } from "node:fs";

/**
 * @param {{ testResults: { assertionResults: { fullName: string, status: string }[] }[] }} report Vitest's, as JSON.
 * @returns {string[]} Full names.
 */
export const skippedInVitest = ({ testResults }) =>
  testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => ["skipped", "pending", "todo", "disabled"].includes(status))
    .map(({ fullName }) => fullName);

/**
 * @typedef {{ title: string, specs?: { title: string, tests: { status: string }[] }[], suites?: Suite[] }} Suite
 * @param {{ suites: Suite[] }} report Playwright's, as JSON.
 * @returns {string[]}
 */
export const skippedInPlaywright = ({ suites }) =>
  suites.flatMap(({ title, specs = [], suites: inner = [] }) =>
    [
      ...specs
        .filter(({ tests }) => tests.some(({ status }) => status === "skipped"))
        .map((spec) => spec.title),
      ...skippedInPlaywright({ suites: inner }),
    ].map((name) => `${title} ${name}`),
  );

/**
 * @param {string} log What GoogleTest printed: it names a skipped test twice, and one that is disabled not at all.
 * @returns {string[]}
 */
export function skippedInGoogleTest(log) {
  const skipped = new Set(
    [...log.matchAll(/^\[ {2}SKIPPED \] (\w\S*?\.\S+?)(?:,? .*)?$/gm)].map(([, name]) => name ?? ""),
  );
  const disabled = /YOU HAVE (\d+) DISABLED TEST/.exec(log)?.[1];
  return [...skipped, ...(disabled ? [`${disabled} disabled ones`] : [])];
}

/**
 * What `read` finds in `file`; throws where the run left none: then nobody knows what was skipped.
 * @template T
 * @param {string} file
 * @param {(text: string) => T} read
 */
export function readReport(file, read) {
  if (!existsSync(file)) throw new Error(`there is no ${file}: what was skipped is not known`);
  return read(readFileSync(file, "utf8"));
}
