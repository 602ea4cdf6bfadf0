// The tests that run against a fault: those of its own folder first, because they most likely notice it.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./program.mjs";
import { folderOf } from "./sources.mjs";

// Folders of tests that use nothing of a folder of sources, and so cannot notice a fault in it.
const cannotNotice = {
  "engine/api": ["base", "format", "generate", "kernels", "model", "text", "weights_tools"],
  "engine/convert": ["api", "base", "format", "generate", "kernels", "model", "text"],
  "engine/format": ["base", "kernels"],
  "engine/generate": ["base", "format", "kernels", "text"],
  "engine/kernels": ["base", "format", "text"],
  "engine/model": ["base", "kernels", "text"],
  "engine/text": ["base", "kernels", "model"],
  weights_tools: ["api", "base", "format", "generate", "kernels", "model", "text"],
};

/** Runs every test of a new program without a fault, to learn how long each takes; throws where one fails. */
export async function measure(workspace) {
  const suites = [];
  for (const name of ["engine_tests", "tools_tests"]) {
    const report = join(workspace.folder, `${name}-${madeAt(workspace, name)}.json`);
    if (!existsSync(report)) {
      console.log(`running ${name} without a fault`);
      const program = `${workspace.program(name)} --gtest_output=json:${report}`;
      const { isOk, output } = await run(program, {
        cwd: workspace.folder,
        cpuSeconds: 600,
        wallSeconds: 3600,
      });
      if (!isOk) {
        rmSync(report, { force: true });
        throw new Error(`${name} fails without a fault:\n${output.slice(-2000)}`);
      }
    }
    for (const suite of JSON.parse(readFileSync(report, "utf8")).testsuites) {
      // Tests that kernels.inc expands to have it as their file.
      const folder = /\/(?:tests|engine)\/(.*)\/[^/]*$/.exec(suite.testsuite[0]?.file ?? "")?.[1] ?? "";
      suites.push({ name, folder, filter: `${suite.name}.*`, seconds: Number.parseFloat(suite.time) });
    }
  }
  return { workspace, suites };
}

/** Runs the tests of the command line without a fault; throws where one fails. */
export async function checkCommandLine(workspace) {
  const passed = join(workspace.folder, `command-line-${madeAt(workspace, "gpt2-weights")}`);
  if (existsSync(passed)) return;
  console.log("running the tests of the command line without a fault");
  const { isOk, output } = await runCommandLine(workspace, workspace.program("gpt2-weights"));
  if (!isOk) throw new Error(`the tests of the command line fail without a fault:\n${output.slice(-2000)}`);
  writeFileSync(passed, "");
}

const madeAt = (workspace, name) => statSync(workspace.program(name)).mtimeMs;

/** The runs of tests that could notice a fault in `folder`, as { name, tests, filter, seconds }, likeliest first. */
function runsFor(folder, suites) {
  const own = folder.replace("engine/", "");
  const useful = suites.filter((suite) => !cannotNotice[folder]?.includes(suite.folder));
  const runs = [];
  for (const isOwn of [true, false]) {
    for (const name of ["engine_tests", "tools_tests"]) {
      const part = useful.filter((suite) => suite.name === name && (suite.folder === own) === isOwn);
      if (part.length === 0) continue;
      runs.push({
        name,
        tests: isOwn ? own : undefined,
        // On a busy machine, tests of time may fail without a fault.
        filter: `${part.map(({ filter }) => filter).join(":")}-*.TimeGrows*`,
        seconds: part.reduce((sum, { seconds }) => sum + seconds, 0),
      });
    }
  }
  return runs;
}

/**
 * Runs the tests with a fault until one fails. Resolves to that test, to undefined if all pass, and to null if the fault
 * does not compile. A fault in the engine must fail its own tests, without those of the command line.
 */
export async function findKiller(fault, programs, { workspace, suites }) {
  const folder = folderOf(fault.file);
  for (const { name, tests, filter, seconds } of runsFor(folder, suites)) {
    const program = await programs.make(name, tests);
    if (!program) return null;
    const flags = `--gtest_filter='${filter}' --gtest_fail_fast`;
    const { isOk, outcome, output } = await run(`${program} ${flags}`, {
      cwd: workspace.folder,
      cpuSeconds: 4 * seconds + 5,
      wallSeconds: 20 * seconds + 60,
    });
    if (isOk) continue;
    const failed = /\[ {2}FAILED {2}\] ([^\s,]+)/.exec(output)?.[1];
    return failed ?? `${[...output.matchAll(/\[ RUN {6}\] (\S+)/g)].at(-1)?.[1] ?? name}: ${outcome}`;
  }
  if (folder !== "weights_tools") return undefined;
  const program = await programs.make("gpt2-weights");
  if (!program) return null;
  const { isOk, output } = await runCommandLine(workspace, programs.limited(program));
  return isOk ? undefined : `vitest: ${/FAIL.*? > (.*)/.exec(output)?.[1] ?? "a test"}`;
}

const runCommandLine = (workspace, program) =>
  run("npx vitest run -c tests/vitest.config.ts --bail 1 weights_tools", {
    cwd: workspace.tree,
    env: { GPT2_WEIGHTS: program, NO_COLOR: "1" },
    cpuSeconds: 300,
    wallSeconds: 1200,
    memory: "unlimited", // Node.js reserves far more than it uses
  });
