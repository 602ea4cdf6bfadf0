// Prints the results of `npm run mutate:web`.

/** @typedef {Awaited<ReturnType<typeof import("./copy.mjs").makeCopy>>[number]} Mutant */

const partOf = (/** @type {Mutant} */ { fileName }) => fileName.split("/").slice(2, -1).join("/");

/** A fault, with its line of the source. */
export function printSurvivor(
  /** @type {Mutant} */ { fileName, location, mutatorName, replacement },
  lines,
  why,
) {
  const { line, column } = location.start; // from 0 on
  const shown = replacement.replace(/\s+/g, " ");
  console.log(`${why.padEnd(9)}${fileName}:${line + 1}:${column + 1}  ${mutatorName}: ${shown}`);
  console.log(`         ${lines[line]?.trim()}`);
}

/**
 * How many were killed in each folder of web/src. The score leaves out those that were not tried.
 * @param {Mutant[]} mutants
 * @param {(mutant: Mutant) => "killed" | "survived" | "no test" | "not tried"} outcomeOf
 */
export function printScores(mutants, outcomeOf) {
  const columns = /** @type {const} */ (["killed", "survived", "no test", "not tried"]);
  const line = (name, cells) =>
    console.log(name.padEnd(18) + cells.map((cell) => String(cell).padStart(11)).join(""));
  const row = (name, list) => {
    const counts = columns.map((column) => list.filter((mutant) => outcomeOf(mutant) === column).length);
    const [killed = 0, survived = 0, without = 0] = counts;
    const tried = killed + survived + without;
    line(name, [list.length, ...counts, tried === 0 ? "" : `${((100 * killed) / tried).toFixed(1)} %`]);
  };
  line("web/src/", ["faults", ...columns, "score"]);
  const parts = [...new Set(mutants.map(partOf))].sort();
  for (const part of parts)
    row(
      part,
      mutants.filter((mutant) => partOf(mutant) === part),
    );
  row("all", mutants);
}
