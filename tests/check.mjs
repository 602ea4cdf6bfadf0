// `npm run check`: a quick look before you commit, at the files that differ from main or are not committed. It checks
// format, ESLint, prose and TypeScript's types. It runs the unit tests that the changed files can reach by imports, and
// all of tests/repository, which read other files: C++ and documents. `npm run verify` runs everything.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ensureNodeModules, root } from "../engine/toolchain/build.mjs";
import { isOnPath } from "../engine/toolchain/system-packages.mjs";

/** @param {string[]} args */
const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout.trim();
const base = git("merge-base", "HEAD", "main") || "HEAD";
const listed = [git("diff", "--name-only", base), git("ls-files", "-o", "--exclude-standard")].join("\n");
const changed = [...new Set(listed.split("\n"))].filter((name) => name && existsSync(join(root, name)));
/** @param {RegExp} ending */
const those = (ending) => changed.filter((name) => ending.test(name));

ensureNodeModules();
const { lintProse, proseFiles } = await import("./lint/prose.mjs"); // loads a package, which may be new

/**
 * Runs a program beside others, and shows its output if it fails.
 * @param {string} name
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<boolean>}
 */
const check = (name, program, args) =>
  new Promise((resolve) => {
    const begin = performance.now();
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
    child.on("error", (error) => (output += error.message));
    child.on("close", (status) => {
      const seconds = ((performance.now() - begin) / 1000).toFixed(1).padStart(6);
      console.log(`${name.padEnd(8)} ${seconds} s  ${status === 0 ? "ok" : "FAILED"}`);
      if (status !== 0) console.log(output.trim());
      resolve(status === 0);
    });
  });

function checkProse() {
  const files = proseFiles().filter((file) => changed.includes(file));
  try {
    if (files.length > 0) lintProse(files);
    return true;
  } catch (error) {
    console.log(error instanceof Error ? error.message : error);
    return false;
  }
}

async function checkTypes() {
  const isBuilt = await check("types", "npx", ["tsc", "-b", "web"]); // the others read what it writes
  const others = [[], ["-p", "tsconfig.scripts.json"]];
  const results = await Promise.all(others.map((args) => check("types", "npx", ["tsc", ...args])));
  return isBuilt && results.every(Boolean);
}

const cpp = those(/\.(h|cc)$/);
const scripts = those(/\.(ts|mjs)$/);
const pretty = [...scripts, ...those(/\.(css|html)$/)];
const hasClangFormat = isOnPath("clang-format-19");
if (cpp.length > 0 && !hasClangFormat)
  console.log("format     skipped for C++: clang-format-19 is not installed");
const nothing = Promise.resolve(true);
const outcomes = await Promise.all([
  Promise.resolve(checkProse()),
  pretty.length === 0
    ? nothing
    : check("format", "npx", ["prettier", "--check", "--log-level", "warn", ...pretty]),
  cpp.length === 0 || !hasClangFormat
    ? nothing
    : check("format", "clang-format-19", ["--dry-run", "--Werror", ...cpp]),
  scripts.length === 0
    ? nothing
    : check("eslint", "npx", ["eslint", "--max-warnings", "0", "--no-warn-ignored", ...scripts]),
  checkTypes(),
  check("tests", "npx", [
    ...["vitest", "related", "--run", "-c", "tests/vitest.config.ts", "--reporter=dot"],
    ...changed,
    ...readdirSync(join(root, "tests/repository"))
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => `tests/repository/${name}`),
  ]),
]);
if (cpp.length > 0) console.log("C++ changed: run `npm test -- native` and `npm run lint`, too");
process.exit(outcomes.every(Boolean) ? 0 : 1);
