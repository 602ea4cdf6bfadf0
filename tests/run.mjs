// Runs the project's tests, as `npm test [STEP...]`. It installs what they need where that is missing, and stops at no failed
// step. At its end it repeats what failed, and prints the time of each step beside its budget. `all` stands for every step.
// Named steps run one after another; `npm test` and `npm test -- all` run the steps without a browser in the background.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import {
  browserTestTargets,
  buildPackage,
  buildPage,
  buildPreset,
  engineTargets,
  ensureNodeModules,
  root,
  run,
} from "../engine/toolchain/build.mjs";
import { findEmscripten } from "../engine/toolchain/emscripten.mjs";
import {
  aptInstall,
  buildPackages,
  chromiumPackages,
  clangPackages,
  cppTestPackages,
  emscriptenPackages,
  serverPackages,
  testPackages,
} from "../engine/toolchain/system-packages.mjs";
import { fuzz } from "./fuzz/run.mjs";
import { lint } from "./lint/run.mjs";

/** Runs a program of which the output is shown. If it fails, the error's cause is the end of the output. */
async function show(program, ...args) {
  const env = process.stdout.isTTY ? { FORCE_COLOR: "1", ...process.env } : process.env; // it writes into a pipe
  const child = spawn(program, args, { cwd: root, env, stdio: ["inherit", "pipe", "pipe"] });
  let end = "";
  for (const output of ["stdout", "stderr"])
    child[output].setEncoding("utf8").on("data", (text) => {
      process[output].write(text);
      end = (end + text).slice(-8000);
    });
  const isOk = await new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("close", (status) => resolve(status === 0));
  });
  if (!isOk) throw new Error(`${program} ${args.join(" ")} failed`, { cause: end });
}
const ctest = (preset, ...args) => show("ctest", "--preset", preset, ...args);
const vitest = (...args) => show("npx", "vitest", "run", "-c", "tests/vitest.config.ts", ...args);
const playwright = (folder, ...args) =>
  show("npx", "playwright", "test", "-c", `tests/${folder}/playwright.config.ts`, ...args);

/** Makes a build that several steps need only once, because even an unchanged one takes seconds. */
function once(build) {
  let isDone = false;
  return () => {
    if (!isDone) build();
    isDone = true;
  };
}
const buildTools = once(() => buildPreset("native", { targets: ["gpt2-weights"] }));
const buildPacked = once(buildPackage);
const buildSite = once(() => {
  buildPacked();
  buildPage();
});

const filesOf = (...patterns) =>
  spawnSync("git", ["ls-files", "-co", "--exclude-standard", ...patterns], { cwd: root, encoding: "utf8" })
    .stdout.trim()
    .split("\n");
/** Folders of unit tests that start the command line for most of their tests. The step `web` has all others. */
const testsOfTools = ["weights_tools", "compare"];

const steps = {
  native() {
    buildPreset("native");
    return ctest("native");
  },
  asan() {
    buildPreset("native-asan", { targets: ["engine_tests", "out_of_memory_tests", "tools_tests"] });
    return ctest("native-asan");
  },
  tsan() {
    buildPreset("native-tsan", { targets: ["thread_tests"] });
    return ctest("native-tsan", "-R", "thread_tests");
  },
  fuzz: () => fuzz({ seconds: 10, keep: false, seed: 1 }), // the same inputs each time: `npm run fuzz` draws others
  format() {
    run("clang-format-19", ["--dry-run", "--Werror", ...filesOf("*.h", "*.cc")]);
    const check = ["prettier", "--check", "--log-level", "warn"];
    run("npx", [...check, ...filesOf("*.ts", "*.mjs", "*.css", "*.html")]);
  },
  lint: () => lint(),
  wasm() {
    buildPreset("wasm", { targets: ["engine_tests", "out_of_memory_tests", ...engineTargets] });
    return ctest("wasm");
  },
  web() {
    buildTools();
    return vitest(...testsOfTools.flatMap((folder) => ["--exclude", `${folder}/**`]));
  },
  tools() {
    buildTools();
    return vitest(...testsOfTools.map((folder) => `${folder}/`));
  },
  e2e() {
    buildTools();
    buildSite();
    return playwright("e2e", "--project=e2e");
  },
  "e2e-rest"() {
    buildTools();
    buildSite();
    return playwright("e2e", "--project=e2e-rest");
  },
  embed() {
    buildTools();
    buildPacked();
    return playwright("embed", "--project=quick");
  },
  browsers() {
    buildTools();
    buildSite();
    buildPreset("wasm", { targets: browserTestTargets });
    return playwright("browsers");
  },
  async docs() {
    buildTools();
    buildSite();
    await show("node", "docs/site.mjs", "build", "--built", "--base", "/docs/");
    const env = { GITHUB_REPOSITORY: "example/gpt2", GITHUB_REF_TYPE: "branch" };
    run("node", ["web/scripts/publish.mjs", "--dry-run", "--built"], { env });
    return playwright("docs");
  },
  soak() {
    buildSite();
    process.env.SECONDS ??= "30";
    process.env.SEED ??= "1";
    return playwright("soak");
  },
};
/** Seconds that each step may take on two quiet cores after a fresh clone. */
const budgets = {
  ...{ native: 150, asan: 270, tsan: 40, fuzz: 180, format: 140, lint: 290, wasm: 75, web: 60, tools: 40 },
  ...{ e2e: 110, "e2e-rest": 450, embed: 150, browsers: 200, docs: 45, soak: 40 },
};
/** Debian packages that a step needs beside those of its builds. Steps that are not named here need all of testPackages. */
const packagesOf = {
  ...{ native: cppTestPackages, tsan: cppTestPackages, wasm: cppTestPackages, web: [], tools: [] },
  ...{ asan: clangPackages, fuzz: clangPackages, format: clangPackages, lint: clangPackages },
  ...{ e2e: chromiumPackages, docs: chromiumPackages, soak: chromiumPackages },
  embed: [...chromiumPackages, ...serverPackages],
};
/** Steps without a browser: they run while the other steps wait for their browsers. */
const besideOthers = ["asan", "tsan", "fuzz", "format", "lint"];
/** Steps that take long, and that a change seldom breaks alone. */
const onlyInAll = ["asan", "tsan", "fuzz", "tools", "e2e-rest", "browsers", "docs", "soak"];

const names = Object.keys(steps);
const args = process.argv.slice(2);
const usual = names.filter((name) => !onlyInAll.includes(name));
const asked = args.length === 0 ? usual : args.flatMap((name) => (name === "all" ? names : [name]));
for (const name of asked.filter((each) => !(each in steps))) {
  console.error(`unknown step "${name}", expected one of ${names.join(", ")}, all`);
  process.exit(2);
}
const wanted = names.filter((name) => asked.includes(name));
/** Whether some steps run in the background. */
const isWhole = args.length === 0 || args.includes("all");
const beside = isWhole ? wanted.filter((name) => besideOthers.includes(name)) : [];

try {
  // All packages first, because apt and npm cannot install twice at once.
  const forWasm = isWhole && !findEmscripten().found ? [...buildPackages, ...emscriptenPackages] : [];
  aptInstall([...new Set([...wanted.flatMap((name) => packagesOf[name] ?? testPackages), ...forWasm])]);
  ensureNodeModules();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

/** Starts a program, and resolves to whether it succeeded. */
const started = (program, programArgs, options) =>
  new Promise((resolve) => {
    const child = spawn(program, programArgs, { cwd: root, ...options });
    child.on("error", () => resolve(false));
    child.on("close", (status) => resolve(status === 0));
  });

const besideLog = join(root, "build/beside.log");
/** Runs steps in a process with low priority, which prints into besideLog. Resolves to whether they passed. */
async function runBeside(others) {
  mkdirSync(join(root, "build"), { recursive: true });
  const output = openSync(besideLog, "w");
  const passed = await started("nice", ["-n", "10", process.execPath, "tests/run.mjs", ...others], {
    stdio: ["ignore", output, output],
    // Ninja would start two compilers more than there are processors.
    env: { ...process.env, CMAKE_BUILD_PARALLEL_LEVEL: String(availableParallelism()) },
  });
  closeSync(output);
  return passed;
}

const since = (start) => ((performance.now() - start) / 1000).toFixed(0).padStart(8);
const begin = performance.now();
const rows = [];
/** What each failed step printed last, because other steps print after it. */
const failures = [];
const report = (name, seconds, isOk, end = "") => {
  if (!isOk) failures.push(`\n=== ${name} failed; it ended with:\n${end}`);
  const budget = String(budgets[name] ?? "").padStart(8);
  rows.push(`${name.padEnd(8)}${seconds}${budget}  ${isOk ? "ok" : "FAILED"}`);
};
const endBeside = beside.length > 0 ? runBeside(beside).then((isOk) => [since(begin), isOk]) : undefined;
const fetching = ["engine/toolchain/emscripten.mjs"]; // 250 MB; the step that needs it reports a failure
const emscripten = isWhole ? started(process.execPath, fetching, { stdio: ["ignore", 2, 2] }) : undefined;
for (const name of wanted.filter((each) => !beside.includes(each))) {
  if (name !== "native") await emscripten;
  console.log(`\n=== ${name}`);
  const start = performance.now();
  let failure;
  try {
    await steps[name]();
  } catch (error) {
    console.error(error.message);
    failure = error;
  }
  report(name, since(start), !failure, failure?.cause ?? failure?.message);
}
if (endBeside) {
  const [seconds, isOk] = await endBeside;
  const log = readFileSync(besideLog, "utf8");
  process.stdout.write(log);
  report("beside", seconds, isOk, log.slice(-8000));
}

for (const each of failures) console.log(each);
console.log(`\nstep     seconds  budget\n${rows.join("\n")}\ntotal   ${since(begin)}`);
if (!process.env.GPT2_MODELS)
  console.log("skipped: tests with trained models, because GPT2_MODELS names no folder of them");
const left = names.filter((name) => !wanted.includes(name)).join(", ");
console.log(left ? `not run: ${left}` : "every step ran");
process.exitCode = failures.length > 0 ? 1 : 0; // not exit(): a pipe may still hold output
