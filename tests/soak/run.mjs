// `npm run soak`: users who abort, leave, stall and dispose, in headless Chromium. Every answer is compared with those of
// a cold engine and of the command line. Options: -- --minutes N; --built uses the existing page and command line. --seed
// S plays the rounds of that run again; the machine decides their order in time. --report FILE writes the problems there, for
// `npm test`. Ends with status 1 if an answer differs, something hangs, or memory or workers stay.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPreset, buildWeb, root } from "../../engine/toolchain/build.mjs";
import { compare } from "./expected.mjs";
import { makeRound } from "./plan.mjs";
import { measure } from "./renderers.mjs";
import { openBrowser, serve } from "./site.mjs";
import { within } from "./within.mjs";

/** A round takes a few minutes on a very busy machine. After this time it counts as hanging. */
const hangMs = 180_000;
/** Rounds between two rests, in which no model is in use. */
const roundsToRest = 3;
/** Time in which a model must be freed: dispose takes milliseconds, garbage collection several attempts. */
const restMs = 30_000;
/**
 * How much more the process may take at rest than at the first rest. The engine of the demo model has 30 MB: two that were left
 * behind, of hundreds, are found. What the browser keeps for itself (compiled code, arenas of its allocator) levels off below.
 */
const restBytes = 60e6;
/** The same for JavaScript objects: the module keeps nothing of a request that has been answered. */
const restHeap = 4e6;

/** The module that runs in the page. */
const inPage = "/soak/in-page.mjs";

const { values: flags } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e9)) },
    built: { type: "boolean", default: false },
    report: { type: "string" },
  },
});
const number = (name) => {
  const value = Number(flags[name]);
  if (Number.isFinite(value) && value >= 0 && flags[name].trim() !== "") return value;
  console.error(`--${name} is "${flags[name]}", expected a number from 0 on`);
  process.exit(2);
};
const milliseconds = number("minutes") * 60_000;
const seed = number("seed");

const problems = [];
const rows = [];
const done = {};
let compared = 0;
let page;

/** Whether no model is left: no worker, and no more memory than at `first`, the first rest. */
const isFreed = ({ heap, bytes, workers }, first) =>
  workers === 0 && (!first || (bytes - first.bytes <= restBytes && heap - first.heap <= restHeap));

/** Disposes of all models and waits until their workers have ended and their memory is free. */
async function rest() {
  const first = rows.find(({ when }) => when === "at rest");
  const end = Date.now() + restMs;
  let now;
  do {
    await page.evaluate(async (module) => (await import(module)).rest(), inPage);
    await page.waitForTimeout(200);
    now = await measure(page);
  } while (!isFreed(now, first) && Date.now() < end);
  return now;
}

const start = Date.now();
const mb = (bytes) => (bytes / 1e6).toFixed(1);
const widths = [7, 6, 8, 9, 11, 12, 8];
const printRow = (cells) =>
  console.log(cells.map((cell, i) => String(cell).padStart(widths[i] ?? 0)).join(" "));
function note(round, when, { heap, bytes, workers }) {
  rows.push({ round, when, heap, bytes, workers });
  const seconds = ((Date.now() - start) / 1000).toFixed(0);
  printRow([seconds, round, when, compared, mb(heap), mb(bytes), workers]);
}

async function playRound(round, cold) {
  const users = makeRound(seed, round);
  const played = await page.evaluate(
    async ([module, list, ms]) => (await import(module)).play(list, ms),
    /** @type {const} */ ([inPage, users, hangMs]),
  );
  note(round, "in use", await measure(page));
  const askCold = (call) =>
    within(
      hangMs,
      cold.evaluate(async ([module, one]) => (await import(module)).askCold(one), [inPage, call]),
    );
  const found = await compare(played.kept, askCold, tool, folders, scratch);
  compared += found.compared;
  for (const [name, times] of Object.entries(played.done)) done[name] = (done[name] ?? 0) + times;
  problems.push(...[...played.problems, ...found.problems].map((problem) => `round ${round}: ${problem}`));
}

function checkRests() {
  const [first, ...later] = rows.filter(({ when }) => when === "at rest");
  for (const { round, heap, bytes, workers } of [first, ...later]) {
    if (workers > 0)
      problems.push(`round ${round}: ${workers} workers are left where no model is, expected 0`);
    const kept = bytes - first.bytes;
    if (kept > restBytes)
      problems.push(
        `round ${round}: at rest the process has ${mb(kept)} MB more than at first, at most ${mb(restBytes)} may be`,
      );
    if (heap - first.heap > restHeap)
      problems.push(
        `round ${round}: at rest JavaScript has ${mb(heap - first.heap)} MB more than at first, at most ${mb(restHeap)} may be`,
      );
  }
}

if (!flags.built) {
  buildPreset("native", { targets: ["gpt2-weights"] });
  buildWeb();
}
const tool = join(root, "build/native/weights_tools/gpt2-weights");
const scratch = mkdtempSync(join(tmpdir(), "gpt2-soak-"));
const folders = { demo: join(root, "web/models/demo"), tiny: join(scratch, "tiny") };
execFileSync(tool, ["convert", join(root, "tests/data/tiny-models/tied"), folders.tiny], { stdio: "ignore" });
const site = await serve({ "/models/tiny": folders.tiny });
const [browser, coldBrowser] = await Promise.all([openBrowser(), openBrowser()]);
console.log(`soak: ${flags.minutes} minutes, --seed ${seed}, Chromium ${browser.version()}`);
printRow(["seconds", "round", "when", "compared", "JS heap MB", "renderer MB", "workers"]);
try {
  page = await browser.newPage();
  await page.goto(site.page);
  // The browser keeps memory that it needed for the first models, so the first rest comes after a round.
  let round = 0;
  let isLast = false;
  const end = Date.now() + milliseconds;
  do {
    const cold = await coldBrowser.newPage();
    await cold.goto(site.page);
    await playRound(round, cold);
    await cold.close();
    isLast = Date.now() >= end || problems.length > 0;
    if (isLast || round % roundsToRest === 0) note(round, "at rest", await rest());
    round += 1;
  } while (!isLast);
  checkRests();
} catch (error) {
  problems.push(error.message);
} finally {
  await Promise.all([browser.close(), coldBrowser.close()]);
  site.stop();
  rmSync(scratch, { recursive: true });
}
const counts = Object.entries(done).map(([name, times]) => `${name} ${times}`);
console.log(`done: ${counts.join(", ")}`);
for (const problem of problems) console.error(problem);
if (flags.report !== undefined) {
  const lines = rows.map(
    ({ round, when, workers, bytes }) => `${round} ${when}: ${workers} workers, ${mb(bytes)} MB`,
  );
  const failed = problems.map((name) => ({ name, why: lines.join("\n"), flaky: false }));
  writeFileSync(flags.report, JSON.stringify({ skipped: [], failed, times: [] }));
}
console.log(
  `soak: ${compared} answers were compared; ${problems.length === 0 ? "all well" : `${problems.length} problems, --seed ${seed}`}`,
);
process.exit(problems.length === 0 ? 0 : 1);
