// `npm run mutate:web`: plants StrykerJS's faults in web/src, one at a time, and lists those that no test notices. Each
// fault runs the tests that reach it, in a worker that is kept. StrykerJS's own runner starts a worker for each fault,
// and takes a second for what takes milliseconds here. See planting-runner.ts.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { makeCopy } from "./copy.mjs";
import { printScores, printSurvivor } from "./report.mjs";
import { VitestRuns } from "./vitest-runs.mjs";

/** @import { Hits, Measured, Outcome } from "./planting-runner.js" */

const usage = `Usage: npm run mutate:web -- [OPTIONS]

Options:
  --only PATH   Plant faults only in files whose paths begin with PATH, such as web/src/loader; you can give it more than once
  --tests PATH  Run only tests whose paths begin with PATH, such as tests/web/cache; you can give it more than once
  --count N     Draw this many faults at random [all]
  --seed S      Draw the faults by this seed [1]
  --at-import   Also plant faults in code that runs at import: each takes a run of its own, of some seconds`;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [""] },
    tests: { type: "string", multiple: true, default: [""] },
    count: { type: "string", default: "Infinity" },
    seed: { type: "string", default: "1" },
    "at-import": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}

const root = resolve(import.meta.dirname, "../../..");
const folder = join(root, "build/mutate-web");
const copy = join(folder, "tree");
mkdirSync(folder, { recursive: true });
const mostNearest = 4; // test files that run against a fault in code that runs at import
const runs = new VitestRuns({ folder, copy, modules: join(root, "node_modules") });

/** A hash that depends only on the place and the seed. */
const draw = ({ fileName, location, replacement }) =>
  createHash("sha256")
    .update(JSON.stringify([values.seed, fileName, location, replacement]))
    .digest("hex");
const drawn = (await makeCopy(root, copy, values.only)).map((mutant) => ({ mutant, at: draw(mutant) }));
const mutants = drawn
  .sort((a, b) => (a.at < b.at ? -1 : 1))
  .slice(0, Number(values.count))
  .map(({ mutant }) => mutant);
const chosen = new Set(mutants.map(({ id }) => id));
const testFiles = readdirSync(join(copy, "tests/web"))
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `tests/web/${name}`)
  .filter((name) => values.tests.some((start) => name.startsWith(start)));
console.log(`${mutants.length} faults, ${testFiles.length} files of tests`);

/** The outcome of each fault, by its id. @type {Map<string, "killed" | "survived">} */
const outcomes = new Map();
/** Faults that left state behind, and those in code that runs at import, each with the test files that reach it. */
const doubtful = new Map();
const atImport = new Map();
const add = (map, mutant, file) => map.set(mutant, (map.get(mutant) ?? new Set()).add(file));

const onlyChosen = (hits) =>
  Object.fromEntries(Object.entries(hits).filter(([mutant]) => chosen.has(mutant)));
const { lines, output } = await runs.run({ kind: "measure" }, testFiles);
if (lines.length === 0) throw new Error(`no test ran:\n${output}`);
const measured = /** @type {Measured[]} */ (lines).map(({ file, atImport, perTest, failed }) => {
  const tests = Object.entries(perTest).map(([test, hits]) => [test, onlyChosen(hits)]);
  return {
    file: relative(copy, file),
    atImport,
    perTest: /** @type {Hits} */ (Object.fromEntries(tests)),
    failed,
  };
});
const metBy = (/** @type {Hits} */ perTest) =>
  new Set(Object.values(perTest).flatMap((hits) => Object.keys(hits)));
const sourceOf = new Map(mutants.map(({ id, fileName }) => [id, fileName]));
const metByFile = new Map(measured.map(({ file, perTest }) => [file, metBy(perTest)]));
// Tests of single files come first. They take milliseconds, and decide most of the faults that slower tests reach.
for (const { file, atImport: imported, perTest, failed } of measured.sort(
  (a, b) => metBy(a.perTest).size - metBy(b.perTest).size,
)) {
  if (failed.length > 0) console.log(`${file}: ${failed.length} tests do not pass twice, or not at all`);
  for (const mutant of Object.keys(onlyChosen(imported))) add(atImport, mutant, file);
  for (const test of failed)
    for (const mutant of Object.keys(perTest[test] ?? {})) add(doubtful, mutant, file);
  const repeatable = Object.fromEntries(Object.entries(perTest).filter(([test]) => !failed.includes(test)));
  if (metBy(repeatable).size > 0) await plantIn(file, repeatable);
}
await plantAlone(doubtful);
if (values["at-import"])
  await plantAlone(new Map([...atImport].map(([mutant, files]) => [mutant, nearest(mutant, files)])));

/** The test files that reach the fault's source and little else. */
function nearest(/** @type {string} */ mutant, /** @type {Set<string>} */ files) {
  const source = sourceOf.get(mutant);
  const share = (file) => {
    const met = [...(metByFile.get(file) ?? [])];
    return met.filter((id) => sourceOf.get(id) === source).length / Math.max(1, met.length);
  };
  return new Set([...files].sort((a, b) => share(b) - share(a)).slice(0, mostNearest));
}

/** Plants the faults that a file's tests reach, until each has an outcome there. */
async function plantIn(/** @type {string} */ file, /** @type {Hits} */ perTest) {
  const left = new Set();
  const met = new Set(); // "TEST MUTANT"
  const started = Date.now();
  for (let isOver = false; !isOver;) {
    const tests = Object.fromEntries(
      Object.entries(perTest).map(([id, hits]) => {
        const isOpen = (mutant) =>
          outcomes.get(mutant) !== "killed" && !left.has(mutant) && !met.has(`${id} ${mutant}`);
        return [id, Object.keys(hits).filter(isOpen)];
      }),
    );
    if (Object.values(tests).every((list) => list.length === 0)) break;
    const run = await runs.run({ kind: "plant", tests, hits: perTest }, [file]);
    const said = /** @type {Outcome[]} */ (run.lines);
    const planted = said.filter((line) => line.outcome !== "spoiled");
    for (const { outcome, id, mutant } of planted) {
      met.add(`${id} ${mutant}`);
      if (outcome !== "planted") outcomes.set(mutant, outcome);
    }
    const last = planted.at(-1);
    if (last === undefined) {
      console.log(`${file}: nothing was planted\n${run.output.slice(-2000)}`);
      isOver = true;
    } else if (last.outcome === "planted") {
      outcomes.set(last.mutant, "killed"); // it hangs, or ends the process
    } else if (said.at(-1)?.outcome === "spoiled") {
      outcomes.delete(last.mutant);
      left.add(last.mutant);
      add(doubtful, last.mutant, file);
    } else isOver = true;
  }
  const mine = [...metBy(perTest)];
  const killed = mine.filter((mutant) => outcomes.get(mutant) === "killed").length;
  const seconds = Math.round((Date.now() - started) / 1000);
  console.log(
    `${file}: ${killed} of ${mine.length} killed by now, ${left.size} to be tried alone, ${seconds} s`,
  );
}

/** Plants each remaining fault in its own workers. */
async function plantAlone(/** @type {Map<string, Set<string>>} */ waiting) {
  const isOpen = (mutant) => outcomes.get(mutant) !== "killed";
  let alone = [...waiting].filter(([mutant]) => isOpen(mutant));
  if (alone.length > 0) console.log(`${alone.length} are tried alone`);
  while (alone.length > 0) {
    const list = alone.map(([mutant, files]) => ({ mutant, files: [...files] }));
    const run = await runs.run({ kind: "alone", alone: list }, []);
    const planted = /** @type {Outcome[]} */ (run.lines).filter((line) => line.outcome !== "spoiled");
    if (planted.length === 0) throw new Error(`nothing was planted:\n${run.output.slice(-2000)}`);
    for (const { mutant, outcome } of planted)
      outcomes.set(mutant, outcome === "survived" ? outcome : "killed");
    const tried = new Set(planted.map(({ mutant }) => mutant));
    alone = alone.filter(([mutant]) => !tried.has(mutant));
  }
}

const outcomeOf = ({ id }) =>
  outcomes.get(id) ??
  (atImport.has(id) ? /** @type {const} */ ("not tried") : /** @type {const} */ ("no test"));
const sources = new Map();
const place = ({ fileName, location: { start } }) => [fileName, start.line, start.column];
const byPlace = (a, b) => {
  const [[file, ...at], [otherFile, ...otherAt]] = [place(a), place(b)];
  return file === otherFile ? at[0] - otherAt[0] || at[1] - otherAt[1] : file < otherFile ? -1 : 1;
};
for (const mutant of mutants.toSorted(byPlace)) {
  const outcome = outcomeOf(mutant);
  if (outcome === "killed" || outcome === "not tried") continue;
  const { fileName } = mutant;
  if (!sources.has(fileName)) sources.set(fileName, readFileSync(join(root, fileName), "utf8").split("\n"));
  printSurvivor(mutant, sources.get(fileName), outcome);
}
printScores(mutants, outcomeOf);
writeFileSync(
  join(folder, "outcomes.json"),
  JSON.stringify(
    mutants.map((mutant) => ({ ...mutant, outcome: outcomeOf(mutant) })),
    null,
    1,
  ),
);
