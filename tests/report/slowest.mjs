// How long each test took: from the reports of Vitest and Playwright, and from what ctest kept of GoogleTest's output.

/** @typedef {{ name: string, ms: number }} Timed */

/**
 * @param {{ testResults: { assertionResults: { fullName: string, duration?: number | null }[] }[] }} report Vitest's, as JSON.
 * @returns {Timed[]}
 */
export const timesInVitest = ({ testResults }) =>
  testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .map(({ fullName, duration }) => ({ name: fullName, ms: duration ?? 0 }));

/**
 * @typedef {{ title: string, specs?: { title: string, tests: { results: { duration: number }[] }[] }[], suites?: Suite[] }} Suite
 * @param {{ suites: Suite[] }} report Playwright's, as JSON.
 * @returns {Timed[]}
 */
export const timesInPlaywright = ({ suites }) =>
  suites.flatMap(({ title, specs = [], suites: inner = [] }) => [
    ...specs.map((spec) => ({
      name: `${title} ${spec.title}`,
      ms: spec.tests.flatMap(({ results }) => results).reduce((sum, { duration }) => sum + duration, 0),
    })),
    ...timesInPlaywright({ suites: inner }).map(({ name, ms }) => ({ name: `${title} ${name}`, ms })),
  ]);

/**
 * @param {string} log What GoogleTest printed.
 * @returns {Timed[]}
 */
export const timesInGoogleTest = (log) =>
  [...log.matchAll(/^\[ {7}OK \] (\S+?),?(?: .*)? \((\d+) ms\)$/gm)].map(([, name = "", ms]) => ({
    name,
    ms: Number(ms),
  }));

/**
 * Lines that tell of the five slowest.
 * @param {Timed[]} times
 */
export const slowestFive = (times) =>
  times
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, 5)
    .map(({ name, ms }) => `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
