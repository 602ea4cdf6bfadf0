// The tests that a fault must get past: those of its own folder first, as they are the likeliest to notice it.
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { run } from "./program.mjs";
import { folderOf } from "./sources.mjs";

// Folders of tests that use nothing of a folder of sources, and so cannot notice a fault in it.
const cannotNotice = {
  "engine/api": ["base", "format", "generate", "kernels", "model", "text", "weights_tools"],
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
    const report = join(workspace.folder, `${name}-${statSync(workspace.program(name)).mtimeMs}.json`);
    if (!existsSync(report)) {
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
      const folder = /\/tests\/(.*)\/[^/]*$/.exec(suite.testsuite[0]?.file ?? "")?.[1] ?? "";
      suites.push({ name, folder, filter: `${suite.name}.*`, seconds: Number.parseFloat(suite.time) });
    }
  }
  return { workspace, suites };
}

/** The runs of tests that could notice a fault in `folder`, as { name, filter, seconds }, likeliest first. */
function runsFor(folder, suites) {
  const own = folder.replace("engine/", "");
  const useful = suites.filter((suite) => !cannotNotice[folder]?.includes(suite.folder));
  return [useful.filter((suite) => suite.folder === own), useful.filter((suite) => suite.folder !== own)]
    .flatMap((part) =>
      ["engine_tests", "tools_tests"].map((name) => part.filter((suite) => suite.name === name)),
    )
    .filter((part) => part.length > 0)
    .map((part) => ({
      name: part[0].name,
      filter: part.map(({ filter }) => filter).join(":"),
      seconds: part.reduce((sum, { seconds }) => sum + seconds, 0),
    }));
}

/**
 * Runs the tests on what `link` (see Workspace.plant) makes until one notices. Resolves to the test that did, to
 * undefined where none does, and to null where the program cannot be linked.
 */
export async function findKiller(fault, link, { workspace, suites }) {
  const programs = new Map();
  for (const { name, filter, seconds } of runsFor(folderOf(fault.file), suites)) {
    if (!programs.has(name)) programs.set(name, await link(name));
    const program = programs.get(name);
    if (!program) return null;
    const flags = `--gtest_filter='${filter}' --gtest_fail_fast --gtest_brief=1`;
    const { isOk, outcome, output } = await run(`${program} ${flags}`, {
      cwd: workspace.folder,
      cpuSeconds: 4 * seconds + 5,
      wallSeconds: 20 * seconds + 60,
    });
    if (!isOk) return /\[  FAILED  \] ([^\s,]+)/.exec(output)?.[1] ?? `${name}: ${outcome}`;
  }
  const program = await link("gpt2-weights");
  return program ? commandLineKiller(workspace, program) : null;
}

async function commandLineKiller(workspace, program) {
  const { isOk, output } = await run("npx vitest run -c tests/vitest.config.ts --bail 1 weights_tools", {
    cwd: workspace.tree,
    env: { GPT2_WEIGHTS: program },
    cpuSeconds: 300,
    wallSeconds: 1200,
  });
  return isOk ? undefined : `vitest: ${/FAIL.* > (.*)/.exec(output)?.[1] ?? "weights_tools"}`;
}
