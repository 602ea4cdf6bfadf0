// `npm run mutate`: plants small faults in the C++ sources, one at a time, and lists those that no test notices.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkEquivalents, readEquivalents } from "./equivalents.mjs";
import { printFault, printScores } from "./report.mjs";
import { allFaults, inRandomOrder, mutableFiles } from "./sources.mjs";
import { FaultyPrograms } from "./faulty-programs.mjs";
import { checkCommandLine, findKiller, measure } from "./tests.mjs";
import { Workspace } from "./workspace.mjs";

const usage = `Usage: npm run mutate -- [OPTIONS]

Options:
  --seed S          Choose the faults and their order by this seed [random]
  --count N         Plant this many faults that compile [300]
  --skip N          Skip the first N faults, to continue an earlier run with the same seed [0]
  --only PATH       Plant faults only in files whose paths begin with PATH, such as engine/text; you can give it more than once
  --most-objects N  Skip headers that more than N objects include: a fault there takes minutes
  --replay ID       Plant only this fault, or "survivors" of the last run; you can give it more than once
  --workers N       Number of faults at once [1]
  --list            Print the faults without planting them`;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    count: { type: "string", default: "300" },
    skip: { type: "string", default: "0" },
    only: { type: "string", multiple: true, default: [""] },
    "most-objects": { type: "string", default: "Infinity" },
    replay: { type: "string", multiple: true },
    workers: { type: "string", default: "1" },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}

const root = resolve(import.meta.dirname, "../..");
const folder = join(root, "build/mutate");
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e6) : Number(values.seed);
console.log(`seed ${seed}`);

const workspace = new Workspace(root, folder);
const equivalents = readEquivalents();
const files = mutableFiles(workspace.files);
checkEquivalents(root, files, equivalents);
const faults = allFaults(root, files, equivalents);
const lastSurvivors = join(folder, "survivors.json");
const replayed = values.replay?.flatMap((id) =>
  id === "survivors" ? JSON.parse(readFileSync(lastSurvivors, "utf8")) : [id],
);
const queue = replayed
  ? replayed.map((id) => faults.find((fault) => fault.id === id) ?? fail(`there is no fault ${id}`))
  : inRandomOrder(
      faults.filter(({ file }) => values.only.some((prefix) => file.startsWith(prefix))),
      seed,
    ).slice(Number(values.skip));
const count = replayed ? queue.length : Math.min(Number(values.count), queue.length);
if (values.list) {
  for (const fault of queue.slice(0, count)) printFault("fault", fault);
  process.exit(0);
}

workspace.make();
const tests = await measure(workspace);
if (queue.some(({ file }) => file.startsWith("weights_tools/"))) await checkCommandLine(workspace);

console.log(`${faults.length} possible faults`);

const results = [];
let next = 0;
async function work(slot) {
  while (next < queue.length && results.filter(Boolean).length < count) {
    const index = next++;
    const fault = queue[index];
    if (!fault) return;
    const programs = new FaultyPrograms(workspace, fault, slot);
    if (programs.affected.length > Number(values["most-objects"])) continue;
    const killer = await findKiller(fault, programs, tests);
    if (killer === null) continue; // does not compile: does not count
    results[index] = { ...fault, killer };
    printFault(killer === undefined ? "SURVIVED" : "killed", fault, killer);
  }
}
await Promise.all(Array.from({ length: Number(values.workers) }, (_, slot) => work(slot)));

const planted = results.filter(Boolean).slice(0, count);
writeFileSync(
  lastSurvivors,
  JSON.stringify(planted.filter(({ killer }) => killer === undefined).map(({ id }) => id)),
);
printScores(planted, seed);
if (!replayed) console.log(`to go on: --seed ${seed} --skip ${Number(values.skip) + next}`);

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(2);
}
