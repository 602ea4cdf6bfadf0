// Measures when a first visitor on a phone sees what. The line has 400 kbit/s and a round trip of 400 ms, and the processor is
// slowed down four times. The times count from the request of the page.
import { buildWeb } from "../../../engine/toolchain/build.mjs";
import { withBuiltPage } from "../../../web/scripts/built-page.mjs";
import { median } from "../figures.mjs";
import { openSlowLine } from "./slow-line.mjs";

/** @import { Flags } from "../run.mjs" */

const line = { bytesPerSecond: 50_000, roundTripMs: 400 };
const slowdown = 4;
const mostMs = 60_000;

/** The elements to wait for: a selector for each. @type {Readonly<Record<string, string>>} */
const awaited = {
  "Write on": "#generate:enabled",
  example: "#example blockquote",
  "time left": "#loading-bytes:text-matches('left')",
  editor: "#editor .cm-content",
};

/** Seconds until each element appears; NaN if it never does. @param {import("@playwright/test").Page} page */
async function visit(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  const start = performance.now();
  const seen = Object.entries(awaited).map(async ([name, selector]) => {
    const seconds = await page.waitForSelector(selector, { timeout: mostMs }).then(
      () => (performance.now() - start) / 1000,
      () => NaN,
    );
    return /** @type {const} */ ([name, seconds]);
  });
  await page.goto("./", { waitUntil: "commit" });
  const all = await Promise.all(seen);
  const paint = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
  );
  return Object.fromEntries([["first paint", paint / 1000], ...all]);
}

/** @param {Flags} flags */
async function measure({ rounds = 3, build }) {
  if (build) buildWeb();
  /** @type {Record<string, number>[]} */
  const visits = [];
  await withBuiltPage(async (newPage, port) => {
    const slow = await openSlowLine(port, line);
    for (let round = 0; round < rounds; round += 1) {
      const page = await newPage({
        baseURL: `http://localhost:${slow.port}/`,
        serviceWorkers: "allow",
        viewport: { width: 390, height: 844 },
        locale: "en",
      });
      visits.push(await visit(page));
      await page.close();
    }
    slow.close();
  });
  const names = Object.keys(visits[0] ?? {});
  const times = names.map((name) => [name, median(visits.map((each) => each[name] ?? NaN))]);
  return { title: "Seconds of a first visit", rows: { "400 kbit/s": Object.fromEntries(times) } };
}

export const firstVisit = {
  about: "on the page: what a first visitor sees, and when, over 400 kbit/s with a slow processor",
  measure,
};
