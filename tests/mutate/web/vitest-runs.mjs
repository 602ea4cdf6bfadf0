// Runs of Vitest in the copy, each with a plan. Outcomes arrive line by line, so that those before a hang are kept.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** @import { Plan } from "./planting-runner.js" */

const mostSilence = 20_000; // ms without output, after which a run with faults counts as hanging

export class VitestRuns {
  /** `modules`: where Node.js finds what the tests need. */
  constructor(/** @type {{ folder: string, copy: string, modules: string }} */ { folder, copy, modules }) {
    this.planFile = join(folder, "plan.json");
    this.journal = join(folder, "journal.jsonl");
    this.copy = copy;
    this.vitest = join(modules, "vitest/vitest.mjs");
  }

  /**
   * Runs the tests of `files` as `plan` says; resolves to the lines of its journal, and to what Vitest printed.
   * @param {Omit<Plan, "journal">} plan
   * @param {string[]} files
   */
  async run(plan, files) {
    rmSync(this.journal, { force: true });
    writeFileSync(this.planFile, JSON.stringify({ ...plan, journal: this.journal }));
    const program =
      plan.kind === "alone"
        ? [join(import.meta.dirname, "alone.mjs")]
        : [this.vitest, "run", "--config", "tests/mutate/web/vitest.config.ts", ...files];
    const child = spawn(process.execPath, ["--expose-gc", "--max-old-space-size=2048", ...program], {
      cwd: this.copy,
      env: { ...process.env, MUTATION_PLAN: this.planFile, NODE_ENV: "test" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
    const lastWord = () => (existsSync(this.journal) ? statSync(this.journal).mtimeMs : Date.now());
    const watch = setInterval(() => {
      if (plan.kind !== "measure" && Date.now() - lastWord() > mostSilence) child.kill("SIGKILL");
    }, 1000);
    await new Promise((done) => child.on("close", done));
    clearInterval(watch);
    const lines = existsSync(this.journal) ? readFileSync(this.journal, "utf8").split("\n") : [];
    return { lines: lines.filter((line) => line !== "").map((line) => JSON.parse(line)), output };
  }
}
