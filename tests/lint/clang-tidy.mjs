// clang-tidy with the checks of .clang-tidy on what the native build compiles, as many files at once as there are
// processors. A file that was clean is not read again before it changes, or a header that it includes, or the checks:
// all files take minutes.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { root } from "../../engine/toolchain/build.mjs";

const program = "clang-tidy-19";
/** A build that is only configured, for the command that compiles each file separately. */
export const preset = "clang-tidy";
const build = join(root, "build", preset);
/** One file for each clean source, named by the hash of all that was read. */
const stamps = join(root, "build/lint");

/** @param {string[]} args */
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

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

/** @param {{ file: string, command: string }} unit */
function stampOf({ file, command }, version = "") {
  const hash = createHash("sha256").update(version).update(command.replaceAll(root, ""));
  for (const source of ["", ".clang-tidy", ...[...sourcesOf(file)].sort()])
    hash.update(`\0${source}\0`).update(source ? readFileSync(join(root, source)) : "");
  return join(stamps, hash.digest("hex").slice(0, 32));
}

/** The files that this branch changes; on main itself, those that differ from the previous commit. */
function changedFiles() {
  const main = ["origin/main", "main"].find((name) => {
    try {
      return git("rev-parse", "--verify", "--quiet", name) !== git("rev-parse", "HEAD");
    } catch {
      return false; // no such branch
    }
  });
  let base = "HEAD";
  try {
    base = main ? git("merge-base", "HEAD", main) : git("rev-parse", "--verify", "--quiet", "HEAD~1");
  } catch {
    // A clone without history has only uncommitted changes to compare.
  }
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
  const version = execFileSync(program, ["--version"], { encoding: "utf8" });
  mkdirSync(stamps, { recursive: true });
  /** @type {{ file: string, command: string }[]} */
  const commands = JSON.parse(readFileSync(join(build, "compile_commands.json"), "utf8"));
  const units = new Map(commands.map(({ file, command }) => [relative(root, file), command]));
  const sources = [...units.keys()];
  const wanted = changed
    ? new Set(changedFiles().flatMap((file) => sourceWith(file, sources) ?? []))
    : undefined;
  const waiting = [];
  for (const [file, command] of units) {
    if (!/^(engine|tests|weights_tools)\//.test(file) || (wanted && !wanted.has(file))) continue;
    const stamp = stampOf({ file, command }, version);
    if (!existsSync(stamp)) waiting.push({ file, stamp });
  }
  console.error(`clang-tidy: ${waiting.length} of ${units.size} files${changed ? " have changed" : ""}`);
  const bad = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const found = await check(next.file);
      if (found === "") writeFileSync(next.stamp, next.file);
      else bad.push(next.file);
      process.stderr.write(found);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  if (bad.length > 0) throw new Error(`clang-tidy found something in ${bad.sort().join(", ")}`);
}
