// `npm run mutate`: plants small faults in the C++ sources, one at a time, and lists those that no test notices.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { printFault, printScores } from "./report.mjs";
import { allFaults, inRandomOrder } from "./sources.mjs";
import { findKiller, measure } from "./tests.mjs";
import { Workspace } from "./workspace.mjs";

const usage = `Usage: npm run mutate -- [OPTIONS]

Options:
  --seed S      Choose the faults and their order by this seed [random]
  --count N     Plant this many faults that compile [300]
  --skip N      Skip the first N faults, to continue an earlier run with the same seed [0]
  --only PATH   Plant faults only in files whose paths begin with PATH, such as engine/text; you can give it more than once
  --no-headers  Skip headers: a fault there makes many files compile again, which takes minutes
  --replay ID   Plant only this fault, or "survivors" of the last run; you can give it more than once
  --list        Print the faults without planting them`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
    count: { type: "string", default: "300" },
    skip: { type: "string", default: "0" },
    only: { type: "string", multiple: true, default: [""] },
    "no-headers": { type: "boolean", default: false },
    replay: { type: "string", multiple: true },
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
console.log(`seed ${values.seed}`);

const workspace = new Workspace(root, folder);
const faults = allFaults(root, workspace.files);
console.log(`${faults.length} possible faults`);
const lastSurvivors = join(folder, "survivors.json");
const replayed = values.replay?.flatMap((id) =>
  id === "survivors" ? JSON.parse(readFileSync(lastSurvivors, "utf8")) : [id],
);
const isChosen = ({ file }) =>
  values.only.some((prefix) => file.startsWith(prefix)) && !(values["no-headers"] && file.endsWith(".h"));
const queue = replayed
  ? replayed.map((id) => faults.find((fault) => fault.id === id) ?? fail(`there is no fault ${id}`))
  : inRandomOrder(faults.filter(isChosen), values.seed).slice(Number(values.skip));
const count = replayed ? queue.length : Math.min(Number(values.count), queue.length);
if (values.list) {
  for (const fault of queue.slice(0, count)) printFault("fault", fault);
  process.exit(0);
}

workspace.make();
const hasCommandLine = queue.some(({ file }) => file.startsWith("weights_tools/"));
const suites = await measure(workspace, hasCommandLine);

const planted = [];
let tried = 0;
for (const fault of queue) {
  if (planted.length === count) break;
  tried += 1;
  const killer = await workspace.withFault(fault, () => findKiller(fault, workspace, suites));
  if (killer === null) continue; // does not compile: does not count
  planted.push({ ...fault, killer });
  printFault(killer === undefined ? "SURVIVED" : "killed", fault, killer);
}
const survivors = planted.filter(({ killer }) => killer === undefined);
writeFileSync(lastSurvivors, JSON.stringify(survivors.map(({ id }) => id)));
printScores(planted);
if (!replayed) console.log(`to continue: --seed ${values.seed} --skip ${Number(values.skip) + tried}`);

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(2);
}
