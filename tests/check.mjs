// `npm run check`: a quick look before you commit, at the files that differ from main or are not committed. It checks format,
// ESLint, prose and types, and runs tests/repository and the unit tests that the changed files can reach by imports.
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

/**
 * Runs a program on files, and shows its output if it fails. Without files it passes.
 * @param {string} command
 * @param {string[]} files
 * @returns {Promise<boolean>}
 */
const check = (command, files) =>
  new Promise((resolve) => {
    if (files.length === 0) return resolve(true);
    const begin = performance.now();
    const [program = "", ...args] = command.split(" ");
    const child = spawn(program, [...args, ...files], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
    child.on("error", (error) => (output += error.message));
    child.on("close", (status) => {
      const seconds = ((performance.now() - begin) / 1000).toFixed(1).padStart(6);
      console.log(`${seconds} s  ${status === 0 ? "ok    " : "FAILED"}  ${command}`);
      if (status !== 0) console.log(output.trim());
      resolve(status === 0);
    });
  });

ensureNodeModules();
const cpp = those(/\.(h|cc)$/);
const scripts = those(/\.(ts|mjs)$/);
const formatted = [...scripts, ...those(/\.(css|html)$/)];
const ofRepository = readdirSync(join(root, "tests/repository")).map((name) => `tests/repository/${name}`);
const outcomes = await Promise.all([
  check("node tests/lint/prose.mjs", those(/^(?!tests\/data\/).*\.md$|language\/en\.ts$/)),
  check("npx prettier --check --log-level warn", formatted),
  isOnPath("clang-format-19") ? check("clang-format-19 --dry-run --Werror", cpp) : true,
  check("npx eslint --max-warnings 0 --no-warn-ignored", scripts),
  check("npx tsc -b", ["web"]).then(async (isBuilt) => {
    const others = await Promise.all([".", "tsconfig.scripts.json"].map((one) => check("npx tsc -p", [one])));
    return isBuilt && others.every(Boolean);
  }), // the others read what the first one writes
  check("npx vitest related --run -c tests/vitest.config.ts --reporter=dot", [...changed, ...ofRepository]),
]);
if (cpp.length > 0) console.log("C++ changed: run `npm test -- native` and `npm run lint`, too");
process.exit(outcomes.every(Boolean) ? 0 : 1);
