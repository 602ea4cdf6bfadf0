// Runs one bundled fuzz target: node child.mjs BUNDLE SEED "seconds" | "runs" NUMBER. Its last line is JSON.
import { pathToFileURL } from "node:url";
import * as fc from "fast-check";

/** The time that one input may take. */
const mostMs = 20_000;

const [bundle = "", seed, unit, number] = process.argv.slice(2);
const { target } = await import(pathToFileURL(bundle).href);

/** The input under test, for errors outside of `check`. */
let current;
const failOutside = (error) => {
  console.log(`${error?.stack ?? error}\nwhile the input was ${fc.stringify(current)}`);
  process.exit(1);
};
process.on("unhandledRejection", failOutside);
process.on("uncaughtException", failOutside);

await target.start?.();
const begin = performance.now();
const checked = fc.asyncProperty(target.arbitrary, async (input) => {
  current = input;
  await target.check(input);
});
const result = await fc.check(checked, {
  seed: Number(seed),
  examples: (target.examples ?? []).map((input) => [input]),
  timeout: mostMs,
  ...(unit === "runs"
    ? { numRuns: Number(number) }
    : {
        numRuns: Number.MAX_SAFE_INTEGER,
        interruptAfterTimeLimit: Number(number) * 1000,
        markInterruptAsFailure: false,
      }),
});
const seconds = (performance.now() - begin) / 1000;
await target.stop?.();
if (result.failed) console.log(fc.defaultReportMessage(result), result.errorInstance);
console.log(
  JSON.stringify({
    executions: result.numRuns,
    perSecond: Math.round(result.numRuns / Math.max(seconds, 0.001)),
  }),
);
process.exit(result.failed ? 1 : 0);
