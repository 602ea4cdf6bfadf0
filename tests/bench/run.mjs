// `npm run bench -- NAME`: measures speed, memory and size, and prints a table. `npm run bench -- --help` lists the names
// and the options.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { tableOf } from "./figures.mjs";
import { formats } from "./formats.mjs";
import { builds, native, peers, sizes } from "./speed.mjs";
import { firstVisit } from "./page/first-visit.mjs";
import { fluency, suggestions } from "./page.mjs";
import { visits } from "./visits.mjs";

/**
 * What a benchmark measures: figures by row and column. Each of the ratios divides a row by another one.
 * @typedef {Record<string, Record<string, number>>} Rows
 * @typedef {{ title: string, rows: Rows, ratios?: Rows }} Table
 * @typedef {typeof flags} Flags
 * @typedef {{ about: string, measure: (flags: Flags) => Promise<Table | undefined> }} Benchmark
 */

/** @type {Record<string, Benchmark>} */
const benchmarks = {
  builds,
  sizes,
  peers,
  native,
  suggestions,
  fluency,
  "first-visit": firstVisit,
  visits,
  formats,
};

const { values: given, positionals } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    build: { type: "boolean", default: true },
    weights: { type: "string", multiple: true },
    size: { type: "string", multiple: true },
    threads: { type: "string", default: "2" },
    rounds: { type: "string" },
    rate: { type: "string", default: "50e6" },
    model: { type: "string" },
    text: { type: "string" },
    against: { type: "string" },
    "js-flags": { type: "string" },
  },
  allowPositionals: true,
  allowNegative: true,
});
const [name = "builds", extra] = positionals;
const benchmark = benchmarks[name];

/** @param {string} message @returns {never} */
function refuse(message) {
  console.error(`bench: ${message}`);
  process.exit(2);
}
/** @param {string} option @param {string} value */
function countOf(option, value) {
  const count = Number(value);
  if (Number.isInteger(count) && count >= 1) return count;
  return refuse(`--${option} is "${value}", expected a whole number of at least 1`);
}
const flags = {
  ...given,
  threads: countOf("threads", given.threads),
  rounds: given.rounds === undefined ? undefined : countOf("rounds", given.rounds),
};

/** @param {number | undefined} value */
const cellOf = (value) =>
  value === undefined || Number.isNaN(value) ? "–" : value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);

/** @param {Rows} rows */
function print(rows) {
  const columns = [...new Set(Object.values(rows).flatMap(Object.keys))];
  const lines = Object.entries(rows).map(([row, figures]) => [
    row,
    ...columns.map((column) => cellOf(figures[column])),
  ]);
  console.log(tableOf(["", ...columns], lines));
}

/** The change of each figure since an earlier run with --json. @param {Rows} now @param {Rows} before */
const changes = (now, before) =>
  Object.fromEntries(
    Object.entries(now).map(([row, figures]) => {
      const speeds = Object.entries(figures).filter(([column]) => /^(prefill|decode)/.test(column));
      return [
        row,
        Object.fromEntries(speeds.map(([column, speed]) => [column, speed / (before[row]?.[column] ?? NaN)])),
      ];
    }),
  );

if (flags.help) {
  console.log("Usage: npm run bench -- NAME [OPTIONS]\n\nNames:");
  for (const [each, { about }] of Object.entries(benchmarks)) console.log(`  ${each.padEnd(12)} ${about}`);
  console.log(`
Options:
  --json              Print the results as one JSON object
  --against FILE      Compare the speeds with the --json of an earlier run; exit with status 1 if one fell by more than 5 %
  --quick             builds: measure only the default build
  --weights FORMAT    builds, sizes: measure only these weights; you can give it more than once
  --size SIZE         sizes: measure only this size, such as 355M; you can give it more than once
  --model FOLDER      builds, suggestions, visits, formats: measure this model, as far as its context reaches
  --text FILE         formats: a text that the model was not trained on
  --threads N         Number of threads [2]
  --rounds N          Number of interleaved rounds, whose median counts
  --rate N            visits: bytes per second of the connection [50e6]
  --js-flags FLAGS    Flags for V8
  --no-build          Measure what is built already`);
  process.exit();
}
if (benchmark === undefined || extra !== undefined)
  refuse(`the name is "${positionals.join(" ")}", expected one of ${Object.keys(benchmarks).join(", ")}`);
const table = await benchmark.measure(flags);
if (table) {
  if (flags.json) console.log(JSON.stringify(table, null, 1));
  else {
    console.log(`\n${table.title}\n`);
    print(table.rows);
    if (table.ratios) print(table.ratios);
  }
  if (flags.against !== undefined) {
    const ratios = changes(table.rows, JSON.parse(readFileSync(flags.against, "utf8")).rows);
    console.error(`compared with ${flags.against}:`);
    print(ratios);
    if (Object.values(ratios).some((row) => Object.values(row).some((ratio) => ratio < 0.95)))
      process.exit(1);
  }
}
