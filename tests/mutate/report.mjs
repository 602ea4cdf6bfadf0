// What `npm run mutate` prints.
import { folderOf } from "./sources.mjs";

const shown = (text) => (text === "" ? "nothing" : text.replace(/\s+/g, " "));

export function printFault(outcome, { id, kind, code, before, after }, killer) {
  console.log(`${outcome.padEnd(8)} ${id}  ${kind}: ${shown(before)} -> ${shown(after)}`);
  console.log(`         ${killer === undefined ? code : `by ${killer}`}`);
}

/** Repeats the survivors, and counts the killed faults of each folder. */
export function printScores(planted) {
  const survivors = planted.filter(({ killer }) => killer === undefined);
  if (survivors.length > 0) console.log("\nsurvivors:");
  for (const fault of survivors) printFault("SURVIVED", fault);
  const folders = [...new Set(planted.map(({ file }) => folderOf(file)))].sort();
  const rows = [...folders, undefined].map((folder) => {
    const faults = planted.filter(({ file }) => folder === undefined || folderOf(file) === folder);
    const killed = faults.filter(({ killer }) => killer !== undefined).length;
    return { folder: folder ?? "all", planted: faults.length, killed, survived: faults.length - killed };
  });
  console.table(rows);
}
