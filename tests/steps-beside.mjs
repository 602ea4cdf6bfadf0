// The background work of `npm test`: other steps, in a process with low priority; and fetching
// Emscripten.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { root } from "../engine/toolchain/build.mjs";

const script = join(root, "tests/run.mjs");
/** The log of these steps, so that it does not mix with the output of other steps. */
const log = join(root, "build/reports/beside.log");
const outcome = join(root, "build/reports/beside.json");
/** Browsers that other steps wait for have priority. With a larger value, these steps would never finish. */
const niceness = "10";

/**
 * The results of steps, as tests/run.mjs records them.
 * @typedef {{ name: string, failed: boolean, seconds: number }} StepResult
 * @typedef {{ results: StepResult[], skipped: [string, string[]][], failed: [string, import("./report/results.mjs").Failed[]][], times: import("./report/results.mjs").Timed[] }} Outcome
 */

/** Its options for a process that runs steps beside others: it writes an outcome, and no summary. */
export const outcomeOption = "--outcome";

/**
 * Starts `steps`, in their order. The function that it returns waits for their end and prints what they printed.
 * @param {string[]} steps
 * @returns {() => Promise<Outcome>}
 */
export function startBeside(steps) {
  rmSync(outcome, { force: true });
  const output = openSync(log, "w");
  const args = ["-n", niceness, process.execPath, script, outcomeOption, outcome, ...steps];
  // Ninja would start two compilers more than there are processors.
  const env = { ...process.env, CMAKE_BUILD_PARALLEL_LEVEL: String(availableParallelism()) };
  const child = spawn("nice", args, { cwd: root, env, stdio: ["ignore", output, output] });
  closeSync(output);
  /** @type {Promise<void>} */
  const end = new Promise((resolve) => {
    child.on("error", () => resolve()); // no outcome is written
    child.on("close", () => resolve());
  });
  return async () => {
    await end;
    process.stdout.write(readFileSync(log, "utf8"));
    try {
      return JSON.parse(readFileSync(outcome, "utf8"));
    } catch {
      const results = steps.map((name) => ({ name, failed: true, seconds: 0 }));
      console.error(`the process of the steps ${steps.join(", ")} ended without an outcome`);
      return { results, skipped: [], failed: [], times: [] };
    }
  };
}

/**
 * Starts to fetch Emscripten if it is missing: 250 MB to download and unpack. The promise resolves in any case:
 * the step that needs Emscripten reports a failure.
 * @returns {Promise<void>}
 */
export function startFetchingEmscripten() {
  const child = spawn(process.execPath, [join(root, "engine/toolchain/emscripten.mjs")], {
    stdio: ["ignore", 2, 2],
  });
  return new Promise((resolve) => {
    child.on("error", () => resolve());
    child.on("close", () => resolve());
  });
}
