// `npm run bench -- NAME`: measures speed, memory and size, and prints a table. `npm run bench -- --help` lists the names
// and the options.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildPreset, buildWeb } from "../../engine/toolchain/build.mjs";
import { aptInstall, benchPackages } from "../../engine/toolchain/system-packages.mjs";
import { benchmarks, measures, median } from "./benchmarks.mjs";
import { chromiumPath } from "./tab.mjs";

/** Figures by row and column. @typedef {Record<string, Record<string, number>>} Rows */

/** The options, with their values and meanings. */
const meanings = {
  json: ["", "Print the results as one JSON object"],
  against: [
    "FILE",
    "Compare the speeds with an earlier --json; exit with status 1 if one fell by more than 5 %",
  ],
  quick: ["", "builds: measure only the default build"],
  weights: ["FORMAT", "builds, sizes: measure only these weights; you can give it more than once"],
  size: ["SIZE", "sizes: measure only this size, such as 355M; you can give it more than once"],
  model: ["FOLDER", "builds, visits: measure this model, as far as its context reaches"],
  threads: ["N", "Number of threads [2]"],
  rounds: ["N", "Number of interleaved rounds, whose median counts [1; peers, native: 3]"],
  rate: ["N", "visits: bytes per second of the connection [50e6]"],
  "js-flags": ["FLAGS", "Flags for V8"],
  "no-build": ["", "Measure what is built already"],
  help: ["", "Print this text"],
};
const options = Object.fromEntries(
  Object.entries(meanings).map(([name, [value]]) => {
    const type = /** @type {"string" | "boolean"} */ (value ? "string" : "boolean");
    return [name, { type, multiple: ["weights", "size"].includes(name) }];
  }),
);
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const given = /** @type {any} */ (values);

/** @param {string} message @returns {never} */
function refuse(message) {
  console.error(`bench: ${message}`);
  process.exit(2);
}
function countOf(option, otherwise) {
  const count = Number(given[option] ?? otherwise);
  if (Number.isInteger(count) && count >= 1) return count;
  return refuse(`--${option} is "${given[option]}", expected a whole number of at least 1`);
}

/** @param {number | undefined} value */
const cellOf = (value) =>
  value === undefined || Number.isNaN(value) ? "–" : value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);

/** Prints a table in Markdown. @param {Rows} rows */
function print(rows) {
  const columns = [...new Set(Object.values(rows).flatMap(Object.keys))];
  const lines = Object.entries(rows).map(([row, all]) => [
    row,
    ...columns.map((column) => cellOf(all[column])),
  ]);
  const heads = ["", ...columns];
  for (const cells of [heads, heads.map(() => "---"), ...lines]) console.log(`| ${cells.join(" | ")} |`);
}

/** The columns of `now`, each divided by that of `before`. */
const divide = (now, before, columns = Object.keys(measures)) =>
  Object.fromEntries(columns.map((column) => [column, (now?.[column] ?? NaN) / (before?.[column] ?? NaN)]));

if (given.help) {
  console.log("Usage: npm run bench -- NAME [OPTIONS]\n\nNames:");
  for (const [each, { about }] of Object.entries(benchmarks)) console.log(`  ${each.padEnd(8)} ${about}`);
  console.log("\nOptions:");
  for (const [option, [value, meaning]] of Object.entries(meanings))
    console.log(`  ${`--${option} ${value}`.padEnd(18)} ${meaning}`);
  process.exit();
}
const [name = "builds", extra] = positionals;
const benchmark = benchmarks[name];
if (benchmark === undefined || extra !== undefined)
  refuse(`the name is "${positionals.join(" ")}", expected one of ${Object.keys(benchmarks).join(", ")}`);
const [threads, rounds] = [countOf("threads", 2), countOf("rounds", benchmark.rounds ?? 1)];
if (!given["no-build"]) {
  aptInstall(benchPackages);
  buildWeb();
  buildPreset("native", { targets: ["gpt2-weights"] });
}

const contenders = benchmark.contenders({ ...given, threads });
const samples = contenders.map(() => /** @type {Record<string, number>[]} */ ([]));
for (let round = 0; round < rounds; ++round) {
  for (const [i, contender] of contenders.entries()) {
    console.error(`round ${round + 1} of ${rounds}: ${contender.name}`);
    const sample = await contender.take(round);
    console.error(JSON.stringify(sample));
    samples[i]?.push(sample);
  }
}
/** @type {Rows} */
const rows = {};
for (const [i, contender] of contenders.entries()) {
  const medianOf = (column) => median(samples[i]?.map((sample) => sample[column] ?? NaN) ?? []);
  const columns = Object.keys(samples[i]?.[0] ?? {});
  rows[contender.name] = Object.fromEntries(columns.map((column) => [column, medianOf(column)]));
}
/** @type {Rows} */
const ratios = {};
for (const [one = "", other = ""] of benchmark.pairs ?? [])
  ratios[`${one} : ${other}`] = divide(rows[one], rows[other], [...Object.keys(measures), "runtime kB"]);
const versions = Object.entries(benchmark.versions ?? {}).map(([peer, version]) => `; ${peer} ${version}`);
const chromium = execFileSync(chromiumPath, ["--version"], { encoding: "utf8", stdio: "pipe" }).trim();
const title = `${threads} thread(s); ${rounds} round(s); ${chromium}${versions.join("")}`;

if (given.json) console.log(JSON.stringify({ title, rows, ratios }, null, 1));
else {
  console.log(`\n${title}; speeds are tokens per second\n`);
  print(rows);
  if (benchmark.pairs) print(ratios);
}
if (given.against !== undefined) {
  const before = JSON.parse(readFileSync(given.against, "utf8")).rows;
  const changes = Object.entries(rows).map(([row, all]) => [row, divide(all, before[row])]);
  console.error(`compared with ${given.against}:`);
  print(Object.fromEntries(changes));
  const ratiosToBefore = Object.values(Object.fromEntries(changes)).flatMap(Object.values);
  if (ratiosToBefore.some((ratio) => ratio < 0.95)) process.exit(1);
}
