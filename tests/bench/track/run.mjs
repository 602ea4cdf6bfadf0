// `npm run bench:track`: appends a line to docs/notes/speed.jsonl with the speed of GPT-2 124M's shapes in Chromium. The
// speeds are relative to a scalar loop that never changes, so that lines of different days and machines compare, and to
// what memory allows. It plots all lines as docs/notes/speed.svg. `npm run bench:check` (--check) appends nothing: it
// compares with the last lines of this processor, and exits 1 if a ratio is worse. Options: -- --threads 1 (2); --turns
// 12 (8): the best of so many counts; --plot only plots the existing lines; --no-build: measures the existing build;
// --json.
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPreset, buildWeb, root } from "../../../engine/toolchain/build.mjs";
import { openBrowser } from "../browser.mjs";
import { makeModel, modelsFolder } from "../models.mjs";
import { bestOf, comparable, readLines, regressions, tolerance } from "./decide.mjs";
import { measureTracked } from "./in-page.mjs";
import { svgOf } from "./plot.mjs";
import { roundSize, scalarLoop } from "./scalar-loop.mjs";

/** @import { Line } from "./decide.mjs" */

const { values: flags } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    plot: { type: "boolean", default: false },
    threads: { type: "string", default: "2" },
    turns: { type: "string", default: "8" },
    build: { type: "boolean", default: true },
    json: { type: "boolean", default: false },
  },
  allowNegative: true,
});
const command = flags.check ? "bench:check" : "bench:track";
/** @param {"threads" | "turns"} option */
const countOf = (option) => {
  const count = Number(flags[option]);
  if (Number.isInteger(count) && count >= 1) return count;
  console.error(`${command}: --${option} is a whole number from 1 on, not "${flags[option]}"`);
  process.exit(2);
};
const threads = countOf("threads");
const turns = countOf("turns");
const file = join(root, "docs/notes/speed.jsonl");
const picture = join(root, "docs/notes/speed.svg");
/** So often a check measures anew before it says that something is slower: all it has taken counts. */
const attempts = 3;

/** @param {string[]} args */
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

/** The commit, with a "+" where tracked files are not as it has them. */
const commit = () =>
  git("rev-parse", "--short=7", "HEAD") + (git("status", "--porcelain", "--untracked-files=no") ? "+" : "");

/** @param {number} attempt @returns {Promise<Line>} */
async function measure(attempt) {
  const browser = await openBrowser({
    "/bench": modelsFolder,
    "/floor": join(root, "build/wasm/tests/bench"),
  });
  try {
    /** @type {Line} */
    const line = {
      commit: commit(),
      date: new Date().toISOString(),
      browser: `Chromium ${browser.version}`,
      processor: cpus()[0]?.model.trim() ?? "unknown",
      threads,
      simd: "",
      loopMultiplyAdds: 0,
      loop: {},
      floor: {},
    };
    const found = [];
    for (const weights of ["q8", "q4"]) {
      console.error(`measuring ${weights}`);
      const best = await browser.inPage(measureTracked, {
        folder: `bench/gpt2-${weights}/`,
        threads,
        floorUrl: "floor/floor.mjs",
        scalarLoop,
        roundSize,
        turns,
        salt: 1000 * attempt,
      });
      found.push({ weights, best });
    }
    const scalar = Math.max(...found.map(({ best }) => best.scalar));
    line.simd = found[0]?.best.simd;
    line.loopMultiplyAdds = rounded(scalar);
    for (const { weights, best } of found) {
      const { prefill, decode } = best.multiplyAdds;
      line.loop[`${weights} prefill 512`] = rounded((best.prefill512 * prefill) / scalar);
      for (const context of [64, 900]) {
        line.loop[`${weights} decode ${context}`] = rounded((best[`decode${context}`] * decode) / scalar);
        line.floor[`${weights} decode ${context}`] = rounded(
          best[`decode${context}`] / best[`floor${context}`],
        );
      }
    }
    return line;
  } finally {
    await browser.close();
  }
}

/** Four digits are more than it is exact to. @param {number} value */
const rounded = (value) => Number(value.toPrecision(4));

/** @param {Line} line */
function print(line) {
  console.log(`${line.commit}, ${line.browser}, ${line.processor}, ${threads} thread(s)`);
  console.log(`the scalar loop: ${(line.loopMultiplyAdds / 1e9).toFixed(2)} multiply-adds a nanosecond`);
  for (const [name, ratio] of Object.entries(line.loop)) {
    const share = line.floor[name];
    const ofMemory = share === undefined ? "" : `, ${(100 * share).toFixed(0)} % of what memory allows`;
    console.log(`${name.padEnd(16)} ${ratio.toFixed(1).padStart(6)} times the loop${ofMemory}`);
  }
}

/** @param {Line[]} lines */
async function check(lines) {
  let now = await measure(0);
  const earlier = comparable(lines, now);
  if (earlier.length === 0) {
    print(now);
    console.error(
      `bench:check: docs/notes/speed.jsonl has no line of this processor (${now.processor}, kernels ${now.simd}, ${threads} threads): run bench:track on the last release`,
    );
    process.exit(2);
  }
  for (let attempt = 1; attempt < attempts && regressions(now, earlier).length > 0; ++attempt) {
    const names = regressions(now, earlier).map(({ name }) => name);
    console.error(`slower: ${names.join(", ")}; measuring anew`);
    now = bestOf(now, await measure(attempt));
  }
  const slower = regressions(now, earlier);
  if (flags.json)
    console.log(JSON.stringify({ now, earlier: earlier.map((line) => line.commit), slower }, null, 1));
  else print(now);
  for (const { name, before, now: found, loss } of slower)
    console.error(
      `bench:check: ${name} is ${(100 * loss).toFixed(1)} % slower beside the scalar loop: ${found.toFixed(1)} times, ` +
        `${before.toFixed(1)} in ${earlier.map((line) => line.commit).join(", ")}`,
    );
  if (slower.length > 0) process.exit(1);
  console.error(
    `no ratio is more than ${100 * tolerance} % worse than in ${earlier.map((line) => line.commit).join(", ")}`,
  );
}

const tracked = () => (existsSync(file) ? readLines(readFileSync(file, "utf8")) : []);

if (!flags.plot && flags.build) {
  buildWeb();
  buildPreset("native", { targets: ["gpt2-weights"] });
  buildPreset("wasm", { targets: ["floor"] });
  for (const weights of ["q8", "q4"]) makeModel(weights);
}
if (flags.check) {
  await check(tracked());
} else {
  if (!flags.plot) {
    const line = await measure(0);
    appendFileSync(file, `${JSON.stringify(line)}\n`);
    if (flags.json) console.log(JSON.stringify(line, null, 1));
    else print(line);
  }
  writeFileSync(picture, svgOf(tracked()));
}
