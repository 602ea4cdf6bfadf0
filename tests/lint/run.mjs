// `npm run lint`: TypeScript's compiler and typescript-eslint on all of TypeScript and JavaScript. clang-tidy on the C++
// that this branch changes; with `-- --all`, on all of it. The rules for prose on documents and the page's words.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { configurePreset, ensureNodeModules, root, run } from "../../engine/toolchain/build.mjs";
import { clangTidy, preset } from "./clang-tidy.mjs";

/**
 * Runs a tool of node_modules beside others; its output is printed when it ends.
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<void>}
 */
const npx = (program, ...args) =>
  new Promise((resolve, reject) => {
    const child = spawn("npx", [program, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (output += data));
    child.on("error", reject);
    child.on("close", (status) => {
      if (status === 0) return resolve();
      process.stderr.write(output);
      reject(new Error(`${program} ${args.join(" ")} found something`));
    });
  });

/**
 * Prints all findings, and throws if there are any.
 * @param {{ all?: boolean }} options
 */
export async function lint({ all = false } = {}) {
  ensureNodeModules();
  const { lintProse } = await import("./prose.mjs"); // loads a package, and that may just have been installed
  lintProse();
  run("npx", ["tsc", "-b", "web"]); // the others read the types that it writes
  const { checkApi } = await import("../../docs/.vitepress/reference/api.mjs"); // the same
  await checkApi();
  configurePreset(preset);
  run("cmake", ["--preset", preset], { quiet: true }); // a source may be new, or gone
  const results = await Promise.allSettled([
    npx("eslint", "--max-warnings", "0", "."),
    npx("tsc")
      .then(() => npx("tsc", "-p", "tsconfig.scripts.json"))
      .then(() => clangTidy({ changed: !all })),
  ]);
  const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason.message] : []));
  if (failures.length > 0) throw new Error(failures.join("\n"));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [option, ...others] = process.argv.slice(2);
  if (others.length > 0 || (option !== undefined && option !== "--all")) {
    console.error(`npm run lint has the option --all, not "${process.argv.slice(2).join(" ")}"`);
    process.exit(2);
  }
  try {
    await lint({ all: option === "--all" });
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
