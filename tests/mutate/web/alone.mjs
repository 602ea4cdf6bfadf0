// Plants each fault of a plan before its tests are imported, in its own workers. So code that runs at import meets no
// other fault, and leftovers end with the worker. vitest-runs.mjs starts it in the copy.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createVitest } from "vitest/node";

/** @import { Plan } from "./planting-runner.js" */

const planFile = process.env["MUTATION_PLAN"] ?? "";
/** @type {Plan} */
const plan = JSON.parse(readFileSync(planFile, "utf8"));
const say = (line) => appendFileSync(plan.journal, `${JSON.stringify(line)}\n`);

const vitest = await createVitest("test", {
  config: "tests/mutate/web/vitest.config.ts",
  watch: false,
  bail: 1,
});
for (const { mutant, files } of plan.alone ?? []) {
  say({ outcome: "planted", mutant, id: "" });
  writeFileSync(planFile, JSON.stringify({ ...plan, fromTheStart: mutant })); // which the worker reads
  vitest.state.filesMap.clear();
  await vitest.start(files);
  const failed = vitest.state.getFiles().find(({ result }) => result?.state === "fail");
  say({ outcome: failed ? "killed" : "survived", mutant, id: "", test: failed?.name ?? "" });
}
await vitest.close();
process.exit(0);
