// `npm test`: builds and tests everything, step by step, and says what it skipped. Names of steps as
// arguments run only those: `npm test -- native web`.
import { spawnSync } from "node:child_process";
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

const show = (program, args, env = {}) => {
  const { status } = spawnSync(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed`);
};
const ctest = (preset) => show("ctest", ["--preset", preset]);
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
  lint() {
    run("npm", ["run", "--silent", "lint"]);
  },
  native() {
    buildPreset("native");
    ctest("native");
  },
  asan() {
    buildPreset("native-asan");
    ctest("native-asan");
  },
  tsan() {
    // What starts no thread has no race: the tools, and whatever reads text and files.
    buildPreset("native-tsan", { targets: ["engine_tests"] });
    const oneThread = ["Encoding", "ParseJson", "ReadUtf8", "Safetensors", "Tokenizer", "Tokenizing"];
    show("ctest", ["--preset", "native-tsan", "-R", "engine_tests"], {
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
    show("npx", ["vitest", "run", "-c", "tests/vitest.config.ts"]);
  },
  e2e() {
    buildPreset("native", { targets: ["gpt2-weights"] });
    buildWeb();
    show("npx", ["playwright", "test", "-c", "tests/e2e/playwright.config.ts"]);
  },
  embed() {
    buildPreset("native", { targets: ["gpt2-weights"] });
    buildPackage();
    show("npx", ["playwright", "test", "-c", "tests/embed/playwright.config.ts", "--project", "quick"]);
  },
  browsers() {
    buildPreset("native", { targets: ["gpt2-weights"] });
    buildWeb();
    buildPreset("wasm", { targets: browserTestTargets });
    show("npx", ["playwright", "test", "-c", "tests/browsers/playwright.config.ts"]);
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

console.log("\nstep      seconds");
for (const { name, failed, seconds } of results)
  console.log(`${name.padEnd(8)} ${seconds.padStart(8)}  ${failed ? "FAILED" : "ok"}`);
if (!process.env.GPT2_MODELS)
  console.log("skipped: tests with trained models (set GPT2_MODELS to a folder of them)");
const failures = results.filter(({ failed }) => failed).length;
console.log(`\nsteps: ${results.length - failures} passed, ${failures} failed`);
process.exit(failures > 0 ? 1 : 0);
