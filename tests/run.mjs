// `npm test`: builds and tests everything, step by step, and says what it skipped and what took longest. Names of steps as
// arguments run only those: `npm test -- native web`.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  buildPreset,
  browserTestTargets,
  buildPackage,
  buildWeb,
  engineTargets,
  ensureNodeModules,
  root,
  run,
} from "../engine/toolchain/build.mjs";
import { aptInstall, testPackages } from "../engine/toolchain/system-packages.mjs";
import { fuzz } from "./fuzz/run.mjs";
import { lint } from "./lint/run.mjs";
import { forgetCounts, printCoverage, webCoverage } from "./report/coverage.mjs";
import { readReport, skippedInGoogleTest, skippedInPlaywright, skippedInVitest } from "./report/skipped.mjs";
import { slowestFive, timesInGoogleTest, timesInPlaywright, timesInVitest } from "./report/slowest.mjs";

const show = (program, args, env = {}) => {
  const { status } = spawnSync(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed`);
};
/** Names of skipped tests, by the step or preset that they are of. */
const skipped = new Map();
/** @type {import("./report/slowest.mjs").Timed[]} */
const times = [];
const noteTimes = (of, list) => times.push(...list.map(({ name, ms }) => ({ name: `${of}: ${name}`, ms })));
const reports = join(root, "build/reports");
const ctest = (preset, args = [], env = {}) => {
  show("ctest", ["--preset", preset, ...args], env);
  const log = join(root, "build", preset, "Testing/Temporary/LastTest.log");
  skipped.set(preset, readReport(log, skippedInGoogleTest));
  noteTimes(preset, readReport(log, timesInGoogleTest));
};
const vitest = (...args) => {
  const report = join(reports, "vitest.json");
  rmSync(report, { force: true });
  const both = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  show("npx", ["vitest", "run", "-c", "tests/vitest.config.ts", ...both, ...args]);
  skipped.set(
    "web",
    readReport(report, (text) => skippedInVitest(JSON.parse(text))),
  );
  noteTimes(
    "web",
    readReport(report, (text) => timesInVitest(JSON.parse(text))),
  );
};
const playwright = (name, ...args) => {
  const report = join(reports, `${name}.json`);
  rmSync(report, { force: true });
  const command = ["playwright", "test", "-c", `tests/${name}/playwright.config.ts`, "--reporter=list,json"];
  show("npx", [...command, ...args], { PLAYWRIGHT_JSON_OUTPUT_FILE: report });
  skipped.set(
    name,
    readReport(report, (text) => skippedInPlaywright(JSON.parse(text))),
  );
  noteTimes(
    name,
    readReport(report, (text) => timesInPlaywright(JSON.parse(text))),
  );
};
const filesOf = (...patterns) =>
  spawnSync("git", ["ls-files", "-co", "--exclude-standard", ...patterns], { cwd: root, encoding: "utf8" })
    .stdout.trim()
    .split("\n");

const steps = {
  format() {
    run("clang-format-19", ["--dry-run", "--Werror", ...filesOf("*.h", "*.cc")]);
    run("npx", [
      "prettier",
      "--check",
      "--log-level",
      "warn",
      ...filesOf("*.ts", "*.mjs", "*.css", "*.html"),
    ]);
  },
  async lint() {
    await lint();
  },
  native() {
    buildPreset("native");
    ctest("native");
  },
  asan() {
    buildPreset("native-asan");
    forgetCounts();
    ctest("native-asan");
  },
  tsan() {
    // What starts no thread has no race: the tools, and whatever reads text and files.
    buildPreset("native-tsan", { targets: ["engine_tests"] });
    const oneThread = ["Encoding", "ParseJson", "ReadUtf8", "Safetensors", "Tokenizer", "Tokenizing"];
    ctest("native-tsan", ["-R", "engine_tests"], {
      GTEST_FILTER: `-${oneThread.map((suite) => `${suite}.*`).join(":")}`,
    });
  },
  async fuzz() {
    await fuzz({ seconds: 10, keep: false, seed: 1 }); // the same inputs each time: `npm run fuzz` draws others
  },
  wasm() {
    buildPreset("wasm", { targets: ["engine_tests", "out_of_memory_tests", ...engineTargets] });
    ctest("wasm");
  },
  web() {
    buildPreset("native", { targets: ["gpt2-weights"] });
    vitest("--coverage", `--coverage.reportsDirectory=${webCoverage}`);
  },
  e2e() {
    buildPreset("native", { targets: ["gpt2-weights"] });
    buildWeb();
    playwright("e2e");
  },
  embed() {
    buildPreset("native", { targets: ["gpt2-weights"] });
    buildPackage();
    playwright("embed", "--project", "quick");
  },
  browsers() {
    buildPreset("native", { targets: ["gpt2-weights"] });
    buildWeb();
    buildPreset("wasm", { targets: browserTestTargets });
    playwright("browsers");
  },
  soak() {
    show("node", ["tests/soak/run.mjs", "--minutes", "0.5"]);
  },
};

const wanted = process.argv.slice(2);
for (const name of wanted.filter((step) => !(step in steps))) {
  console.error(`there is no step "${name}"; there are ${Object.keys(steps).join(", ")}`);
  process.exit(2);
}

const results = [];
try {
  aptInstall(testPackages);
  ensureNodeModules();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
for (const [name, step] of Object.entries(steps)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n=== ${name}`);
  const start = performance.now();
  let error;
  try {
    await step();
  } catch (caught) {
    error = caught;
    console.error(caught.message);
  }
  results.push({
    name,
    failed: error !== undefined,
    seconds: ((performance.now() - start) / 1000).toFixed(0),
  });
}

const passed = (name) => results.some((result) => result.name === name && !result.failed);
printCoverage({ engine: passed("asan"), web: passed("web") });
console.log("\nstep      seconds");
for (const { name, failed, seconds } of results)
  console.log(`${name.padEnd(8)} ${seconds.padStart(8)}  ${failed ? "FAILED" : "ok"}`);
console.log(`\nslowest tests:\n${slowestFive(times).join("\n")}`);
const names = [...skipped].flatMap(([of, list]) => list.map((name) => `  ${of}: ${name}`));
console.log(`\nskipped tests: ${names.length}${names.length > 0 ? `\n${names.join("\n")}` : ""}`);
if (!process.env.GPT2_MODELS)
  console.log("(tests with trained models run where GPT2_MODELS names a folder of them)");
const failures = results.filter(({ failed }) => failed).length;
console.log(`\nsteps: ${results.length - failures} passed, ${failures} failed`);
process.exit(failures > 0 ? 1 : 0);
