// clang-tidy with the checks of .clang-tidy on what the native build compiles, as many files at once as there are
// processors. All files take minutes.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { root } from "../../engine/toolchain/build.mjs";

const program = "clang-tidy-19";
/** A build that is only configured, for the command that compiles each file separately. */
export const preset = "clang-tidy";
const build = join(root, "build", preset);

/** The output of git; "" if it fails. @param {string[]} args */
const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout.trim();

/**
 * The files of the project that `file` is compiled from: itself and what it includes, however indirectly.
 * @param {string} file
 * @param {Set<string>} found
 */
function sourcesOf(file, found = new Set()) {
  if (found.has(file) || !existsSync(join(root, file))) return found;
  found.add(file);
  for (const [, included = ""] of readFileSync(join(root, file), "utf8").matchAll(/^#include "(.*)"/gm))
    sourcesOf(included, found);
  return found;
}

/**
 * The source with which `file` is checked. A header is checked with the source of its name, or with the first that includes it.
 * @param {string} file
 * @param {string[]} sources
 */
const sourceWith = (file, sources) =>
  [file, file.replace(/\.h$/, ".cc")].find((one) => sources.includes(one)) ??
  sources.find((source) => sourcesOf(source).has(file));

/** The files that this branch changes; on main itself, those that differ from the previous commit. */
function changedFiles() {
  const commit = (/** @type {string} */ name) => git("rev-parse", "--verify", "--quiet", name);
  const main = ["origin/main", "main"].find((name) => !["", commit("HEAD")].includes(commit(name)));
  // A clone without history has only uncommitted changes to compare.
  const base = (main ? git("merge-base", "HEAD", main) : commit("HEAD~1")) || "HEAD";
  return `${git("diff", "--name-only", base)}\n${git("ls-files", "-o", "--exclude-standard")}`.split("\n");
}

/**
 * What clang-tidy finds in `file`; "" if it finds nothing.
 * @param {string} file
 * @returns {Promise<string>}
 */
const check = (file) =>
  new Promise((resolve, reject) => {
    // The build reports compiler warnings. clang does not accept GCC's options and precompiled headers.
    const others = ["-Wno-unknown-warning-option", "-Wno-ignored-gch"].map((flag) => `--extra-arg=${flag}`);
    const options = ["--quiet", ...others, "-p", build];
    const child = spawn(program, [...options, file], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let errors = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (errors += data)); // counts of what was suppressed, and crashes
    child.on("error", reject);
    child.on("close", (status) => resolve(status === 0 ? "" : output || errors || `ended with ${status}`));
  });

/**
 * Prints what clang-tidy finds, and throws if it finds anything. With `changed` it reads only files that differ from the main
 * branch, and a source of each header that does.
 * @param {{ changed?: boolean }} options
 */
export async function clangTidy({ changed = false } = {}) {
  /** @type {{ file: string }[]} */
  const commands = JSON.parse(readFileSync(join(build, "compile_commands.json"), "utf8"));
  const sources = commands
    .map(({ file }) => relative(root, file))
    .filter((file) => /^(engine|tests|weights_tools)\//.test(file));
  const waiting = changed
    ? [...new Set(changedFiles().flatMap((file) => sourceWith(file, sources) ?? []))]
    : [...sources];
  console.error(`clang-tidy: ${waiting.length} of ${sources.length} files${changed ? " have changed" : ""}`);
  const bad = [];
  const work = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const found = await check(file);
      if (found !== "") bad.push(file);
      process.stderr.write(found);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  if (bad.length > 0) throw new Error(`clang-tidy found something in ${bad.sort().join(", ")}`);
}
