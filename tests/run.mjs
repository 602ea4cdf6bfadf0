// `npm test`: builds and tests, step by step, and says what it skipped and what took longest. `npm test -- all` also runs
// the steps of `onlyInAll`. Names of steps run only those, one after another: `npm test -- native web`.
// Only what the named steps need is installed: `npm test -- native` needs no browser.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  buildPreset,
  browserTestTargets,
  buildPackage,
  buildPage,
  engineTargets,
  ensureNodeModules,
  root,
  run,
} from "../engine/toolchain/build.mjs";
import { findEmscripten } from "../engine/toolchain/emscripten.mjs";
import {
  aptInstall,
  buildPackages,
  bundlerPackages,
  chromiumPackages,
  clangPackages,
  cppTestPackages,
  emscriptenPackages,
  serverPackages,
  testPackages,
} from "../engine/toolchain/system-packages.mjs";
import { fuzz } from "./fuzz/run.mjs";
import { lint } from "./lint/run.mjs";
import { forgetCounts, printCoverage, webCoverage } from "./report/coverage.mjs";
import {
  failedLines,
  ofGoogleTest,
  ofPlaywright,
  ofVitest,
  readReport,
  slowestFive,
} from "./report/results.mjs";
import { outcomeOption, startBeside, startFetchingEmscripten } from "./steps-beside.mjs";

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
/** Tests that failed at least once, by the same. */
const failed = new Map();
/** @type {import("./report/results.mjs").Timed[]} */
const times = [];
const reports = join(root, "build/reports");

/**
 * Runs a runner of tests, and records its report, also if tests failed.
 * @param {string} of The step or preset.
 * @param {string} report The file that `start` leaves.
 * @param {() => void} start
 * @param {(text: string) => import("./report/results.mjs").Results} read
 */
function runTests(of, report, start, read) {
  rmSync(report, { force: true });
  const note = () => {
    const found = readReport(report, read);
    skipped.set(of, found.skipped);
    failed.set(of, found.failed);
    times.push(...found.times.map(({ name, ms }) => ({ name: `${of}: ${name}`, ms })));
  };
  try {
    start();
  } catch (error) {
    if (existsSync(report)) note();
    throw error;
  }
  note();
}
const ctest = (preset, args = [], env = {}) =>
  runTests(
    preset,
    join(root, "build", preset, "Testing/Temporary/LastTest.log"),
    () => show("ctest", ["--preset", preset, ...args], env),
    ofGoogleTest,
  );
const vitest = (of, ...args) => {
  const report = join(reports, `${of}.json`);
  const both = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  runTests(
    of,
    report,
    () => show("npx", ["vitest", "run", "-c", "tests/vitest.config.ts", ...both, ...args]),
    ofVitest,
  );
};
const playwright = (name, project) => {
  const of = project ?? name;
  const report = join(reports, `${of}.json`);
  const command = ["playwright", "test", "-c", `tests/${name}/playwright.config.ts`, "--reporter=list,json"];
  runTests(
    of,
    report,
    () =>
      show("npx", [...command, ...(project ? ["--project", project] : [])], {
        PLAYWRIGHT_JSON_OUTPUT_FILE: report,
      }),
    ofPlaywright,
  );
};
/** Folders of unit tests that start the command line for most of their tests. The step `web` has all others. */
const testsOfTools = ["weights_tools", "compare"];
/** Makes a build that several steps need only once, because even an unchanged one takes seconds. */
const once = (build) => {
  let isDone = false;
  return () => {
    if (!isDone) build();
    isDone = true;
  };
};
const buildTools = once(() => buildPreset("native", { targets: ["gpt2-weights"] }));
const buildPacked = once(buildPackage); // embed alone needs no page
const buildSite = once(() => {
  buildPacked();
  buildPage();
});

const filesOf = (...patterns) =>
  spawnSync("git", ["ls-files", "-co", "--exclude-standard", ...patterns], { cwd: root, encoding: "utf8" })
    .stdout.trim()
    .split("\n");

const steps = {
  native() {
    buildPreset("native");
    ctest("native");
  },
  asan() {
    buildPreset("native-asan", { targets: ["engine_tests", "out_of_memory_tests", "tools_tests"] });
    forgetCounts();
    ctest("native-asan");
  },
  tsan() {
    buildPreset("native-tsan", { targets: ["thread_tests"] });
    ctest("native-tsan", ["-R", "thread_tests"]);
  },
  async fuzz() {
    await fuzz({ seconds: 10, keep: false, seed: 1 }); // the same inputs each time: `npm run fuzz` draws others
  },
  format() {
    run("clang-format-19", ["--dry-run", "--Werror", ...filesOf("*.h", "*.cc")]);
    const check = ["prettier", "--check", "--log-level", "warn"];
    run("npx", [...check, ...filesOf("*.ts", "*.mjs", "*.css", "*.html")]);
  },
  async lint() {
    await lint();
  },
  wasm() {
    buildPreset("wasm", { targets: ["engine_tests", "out_of_memory_tests", ...engineTargets] });
    ctest("wasm");
  },
  web() {
    buildTools();
    const coverage = args.includes("all") ? ["--coverage", `--coverage.reportsDirectory=${webCoverage}`] : [];
    vitest("web", ...testsOfTools.flatMap((folder) => ["--exclude", `${folder}/**`]), ...coverage);
  },
  tools() {
    buildTools();
    vitest("tools", ...testsOfTools.map((folder) => `${folder}/`));
  },
  e2e() {
    buildTools();
    buildSite();
    playwright("e2e", "e2e");
  },
  "e2e-rest"() {
    buildTools();
    buildSite();
    playwright("e2e", "e2e-rest");
  },
  embed() {
    buildTools();
    buildPacked();
    playwright("embed", "quick");
  },
  browsers() {
    buildTools();
    buildSite();
    buildPreset("wasm", { targets: browserTestTargets });
    playwright("browsers");
  },
  docs() {
    buildTools();
    buildSite();
    show("node", ["docs/site.mjs", "build", "--built", "--base", "/docs/"]);
    const release = ["web/scripts/publish.mjs", "--dry-run", "--built"];
    show("node", release, { GITHUB_REPOSITORY: "example/gpt2", GITHUB_REF_TYPE: "branch" });
    playwright("docs");
  },
  soak() {
    buildTools();
    buildSite();
    const report = join(reports, "soak.json");
    // `npm run soak` draws other seeds.
    const flags = ["--built", "--minutes", "0.5", "--seed", "1", "--report", report];
    const play = () =>
      runTests(
        "soak",
        report,
        () => show("node", ["tests/soak/run.mjs", ...flags]),
        (text) => JSON.parse(text),
      );
    try {
      play();
    } catch (error) {
      if (!process.env.CI) throw error;
      const found = failed.get("soak") ?? [{ name: error.message, why: "" }]; // it left no report
      play(); // Playwright's tests run once more there, too
      failed.set("soak", [
        ...found.map((problem) => ({ ...problem, flaky: true })),
        ...(failed.get("soak") ?? []),
      ]);
    }
  },
  bundlers() {
    buildTools();
    buildPacked();
    playwright("embed", "bundlers");
  },
};
/** Debian packages that a step needs beside those of its builds. Steps that are not named here need all of testPackages. */
const packagesOf = {
  native: cppTestPackages,
  asan: clangPackages,
  tsan: cppTestPackages,
  fuzz: clangPackages,
  format: clangPackages,
  lint: clangPackages,
  wasm: cppTestPackages,
  web: [],
  tools: [],
  e2e: chromiumPackages,
  embed: [...chromiumPackages, ...serverPackages],
  docs: chromiumPackages,
  soak: chromiumPackages,
};
/** Steps without a browser: they run while the other steps wait for their browsers. Their failures are reported at the end. */
const besideOthers = ["asan", "tsan", "fuzz", "format", "lint"];
/** Steps that need no Emscripten, which is fetched meanwhile. */
const withoutEmscripten = ["native"];
/** Steps that take long, and that a change seldom breaks alone. */
const onlyInAll = ["asan", "tsan", "fuzz", "tools", "e2e-rest", "browsers", "docs", "soak", "bundlers"];
const inAll = Object.keys(steps);

const args = process.argv.slice(2);
const outcomeFile = args[0] === outcomeOption ? args.splice(0, 2)[1] : undefined;
const usual = inAll.filter((name) => !onlyInAll.includes(name));
const names = args.length === 0 ? usual : args.flatMap((name) => (name === "all" ? inAll : [name]));
for (const name of names.filter((step) => !(step in steps))) {
  console.error(`unknown step "${name}", expected one of ${inAll.join(", ")}, all`);
  process.exit(2);
}
const wanted = inAll.filter((name) => names.includes(name));

const isWhole = args.length === 0 || args.includes("all");
try {
  // Installs all packages first, because steps that run in parallel must not install in parallel.
  const others = isWhole && !findEmscripten().found ? [...buildPackages, ...emscriptenPackages] : [];
  const ofBundlers = wanted.includes("bundlers") ? bundlerPackages : [];
  const ofSteps = wanted.flatMap((name) => packagesOf[name] ?? testPackages);
  aptInstall([...new Set([...ofSteps, ...ofBundlers, ...others])]);
  ensureNodeModules();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
mkdirSync(reports, { recursive: true });

/** @type {import("./steps-beside.mjs").StepResult[]} */
const results = [];
async function runSteps(list) {
  for (const name of list) {
    console.log(`\n=== ${name}`);
    const start = performance.now();
    let hasFailed = false;
    try {
      await steps[name]();
    } catch (caught) {
      hasFailed = true;
      console.error(caught.message);
    }
    results.push({ name, failed: hasFailed, seconds: (performance.now() - start) / 1000 });
  }
}

const begin = performance.now();
const beside = isWhole ? besideOthers.filter((name) => wanted.includes(name)) : [];
if (!isWhole) {
  await runSteps(wanted);
} else {
  const endBeside = startBeside(beside);
  const emscripten = startFetchingEmscripten();
  await runSteps(wanted.filter((name) => withoutEmscripten.includes(name)));
  await emscripten;
  await runSteps(wanted.filter((name) => !withoutEmscripten.includes(name) && !beside.includes(name)));
  const outcome = await endBeside();
  results.push(...outcome.results);
  for (const [of, list] of outcome.skipped) skipped.set(of, list);
  for (const [of, list] of outcome.failed) failed.set(of, list);
  times.push(...outcome.times);
}
if (outcomeFile !== undefined) {
  writeFileSync(outcomeFile, JSON.stringify({ results, skipped: [...skipped], failed: [...failed], times }));
  process.exit(0);
}

const passed = (of) => results.some(({ name, failed: hasFailed }) => name === of && !hasFailed);
printCoverage({ engine: passed("asan"), web: passed("web") && args.includes("all") });
console.log("\nstep      seconds");
for (const { name, failed: hasFailed, seconds } of results)
  console.log(`${name.padEnd(8)} ${seconds.toFixed(0).padStart(8)}  ${hasFailed ? "FAILED" : "ok"}`);
console.log(`${"total".padEnd(8)} ${((performance.now() - begin) / 1000).toFixed(0).padStart(8)}`);
console.log(`\nslowest tests:\n${slowestFive(times).join("\n")}`);
const skips = [...skipped].flatMap(([of, list]) => list.map((name) => `  ${of}: ${name}`));
console.log(`\nskipped tests: ${skips.length}${skips.length > 0 ? `\n${skips.join("\n")}` : ""}`);
if (!process.env.GPT2_MODELS)
  console.log("(tests with trained models run where GPT2_MODELS names a folder of them)");
const unsteady = failedLines([...failed]);
if (unsteady.length > 0) console.log(`\nfailed tests:\n${unsteady.join("\n")}`);
const failures = results.filter(({ failed: hasFailed }) => hasFailed).length;
console.log(`\nsteps: ${results.length - failures} passed, ${failures} failed`);
const left = inAll.filter((name) => !wanted.includes(name)).join(", ");
console.log(left ? `not run: ${left}; \`npm run verify\` runs every step` : "every step ran");
process.exit(failures > 0 ? 1 : 0);
