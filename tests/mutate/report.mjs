// Prints the results of `npm run mutate`.
import { folderOf, groupsOf } from "./sources.mjs";

const shown = (text) => (text === "" ? "nothing" : text.replace(/\s+/g, " "));

export function printFault(outcome, { id, kind, code, before, after }, killer) {
  console.log(`${outcome.padEnd(8)} ${id}  ${kind}: ${shown(before)} -> ${shown(after)}`);
  if (killer === undefined) console.log(`         ${code}`);
  else console.log(`         by ${killer}`);
}

/** Repeats the survivors, and counts the killed faults of each folder. */
export function printScores(planted, seed) {
  const survivors = planted.filter(({ killer }) => killer === undefined);
  if (survivors.length > 0) console.log("\nsurvivors:");
  for (const fault of survivors) printFault("SURVIVED", fault);
  const row = (name, faults) => {
    const killed = faults.filter(({ killer }) => killer !== undefined).length;
    const score = faults.length === 0 ? "" : `${((100 * killed) / faults.length).toFixed(1)} %`;
    console.log(
      `${name.padEnd(18)}${[faults.length, killed, faults.length - killed, score].map((cell) => String(cell).padStart(10)).join("")}`,
    );
  };
  console.log(
    `\n${"folder".padEnd(18)}${["planted", "killed", "survived", "score"].map((cell) => cell.padStart(10)).join("")}`,
  );
  const byFolder = [...groupsOf(planted, ({ file }) => folderOf(file))];
  for (const [name, faults] of byFolder.sort(([a], [b]) => a.localeCompare(b))) row(name, faults);
  row("all", planted);
  console.log(`seed ${seed}`);
}
