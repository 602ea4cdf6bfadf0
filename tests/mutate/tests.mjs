// The tests that run against a fault: those of its own folder first, because they most likely notice it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./program.mjs";
import { folderOf } from "./sources.mjs";

/** Runs every test without a fault, to learn how long each suite takes; throws where one fails. */
export async function measure(workspace, withCommandLine) {
  const suites = [];
  for (const name of ["engine_tests", "tools_tests"]) {
    console.log(`running ${name} without a fault`);
    const report = join(workspace.folder, `${name}.json`);
    const program = `${await workspace.program(name)} --gtest_output=json:${report}`;
    check(name, await run(program, { cwd: workspace.folder, cpuSeconds: 600, wallSeconds: 3600 }));
    for (const suite of JSON.parse(readFileSync(report, "utf8")).testsuites) {
      // Of the tests that kernels.inc expands to, the file is that one.
      const folder = /\/(?:tests|engine)\/(.*)\/[^/]*$/.exec(suite.testsuite[0]?.file ?? "")?.[1] ?? "";
      suites.push({ name, folder, filter: `${suite.name}.*`, seconds: Number.parseFloat(suite.time) });
    }
  }
  if (withCommandLine) {
    console.log("running the tests of the command line without a fault");
    check("command line", await runCommandLine(workspace, await workspace.program("gpt2-weights")));
  }
  return suites;
}

function check(name, { isOk, output }) {
  if (!isOk) throw new Error(`the tests of ${name} fail without a fault:\n${output.slice(-2000)}`);
}

/**
 * Runs the tests with the planted fault until one notices. Resolves to the test that did, to undefined where none does,
 * and to null where the fault does not compile. Of the engine its own tests must notice, without those of the command line.
 */
export async function findKiller(fault, workspace, suites) {
  const folder = folderOf(fault.file);
  const own = folder.replace("engine/", "");
  for (const isOwn of [true, false]) {
    for (const name of ["engine_tests", "tools_tests"]) {
      const part = suites.filter((suite) => suite.name === name && (suite.folder === own) === isOwn);
      if (part.length === 0) continue;
      const program = await workspace.program(name);
      if (!program) return null;
      const filter = `${part.map((suite) => suite.filter).join(":")}-*.TimeGrows*`; // a busy machine fails these, too
      const seconds = part.reduce((sum, suite) => sum + suite.seconds, 0);
      const { isOk, outcome, output } = await run(`${program} --gtest_filter='${filter}' --gtest_fail_fast`, {
        cwd: workspace.folder,
        cpuSeconds: 4 * seconds + 5,
        wallSeconds: 20 * seconds + 60,
      });
      if (isOk) continue;
      const failed = /\[ {2}FAILED {2}\] ([^\s,]+)/.exec(output)?.[1];
      return failed ?? `${[...output.matchAll(/\[ RUN {6}\] (\S+)/g)].at(-1)?.[1] ?? name}: ${outcome}`;
    }
  }
  if (folder !== "weights_tools") return undefined;
  const program = await workspace.program("gpt2-weights");
  if (!program) return null;
  const { isOk, output } = await runCommandLine(workspace, program);
  return isOk ? undefined : `vitest: ${/FAIL.*? > (.*)/.exec(output)?.[1] ?? "a test"}`;
}

const runCommandLine = (workspace, program) =>
  run("npx vitest run -c tests/vitest.config.ts --bail 1 weights_tools", {
    cwd: workspace.tree,
    env: { GPT2_WEIGHTS: workspace.limited(program), NO_COLOR: "1" },
    cpuSeconds: 300,
    wallSeconds: 1200,
    memory: "unlimited", // Node.js reserves far more than it uses
  });
