// The code that the tests of `npm test` reach. It covers the engine and the tools (llvm-cov, from the build with the
// sanitizers), and web/src (Vitest). Code that runs only in a browser is covered by tests/e2e, which nothing measures.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../../engine/toolchain/build.mjs";

const asan = join(root, "build/native-asan");
/** The folder in which programs of the build with the sanitizers leave counts: see GPT2_COVERAGE in CMakeLists.txt. */
const counts = join(asan, "coverage");
/** The folder in which Vitest writes, for its `--coverage.reportsDirectory`. */
export const webCoverage = join(root, "build/coverage/web");
/** The number of files that are named. */
const named = 10;

/**
 * @typedef {{ file: string, lines: number, covered: number }} Covered Lines that hold code, and those that ran.
 */

/** Deletes the counts of earlier runs, which do not fit programs that have changed since. */
export const forgetCounts = () => rmSync(counts, { recursive: true, force: true });

/** @returns {Covered[] | undefined} */
function ofEngine() {
  if (!existsSync(counts)) return undefined;
  const profile = join(counts, "all.profdata");
  const raw = readdirSync(counts).filter((file) => file.endsWith(".profraw"));
  if (raw.length === 0) return undefined;
  execFileSync("llvm-profdata-19", [
    "merge",
    "--sparse",
    "--failure-mode=all", // a program that was killed leaves half a file
    ...["-o", profile],
    ...raw.map((file) => join(counts, file)),
  ]);
  const programs = ["engine_tests", "out_of_memory_tests", "tools_tests"].map((name) =>
    join(asan, "tests", name),
  );
  const [first = "", ...others] = programs.filter((program) => existsSync(program));
  const report = execFileSync(
    "llvm-cov-19",
    [
      ...["export", "--summary-only", `--instr-profile=${profile}`, first],
      ...others.flatMap((program) => ["--object", program]),
    ],
    { encoding: "utf8", maxBuffer: 1 << 28 },
  );
  /** @type {{ data: { files: { filename: string, summary: { lines: { count: number, covered: number } } }[] }[] }} */
  const { data } = JSON.parse(report);
  return data
    .flatMap(({ files }) => files)
    .map(({ filename, summary: { lines } }) => ({
      file: relative(root, filename),
      lines: lines.count,
      covered: lines.covered,
    }))
    .filter(({ file }) => /^(engine|weights_tools)\//.test(file));
}

/** @returns {Covered[] | undefined} */
function ofWeb() {
  const summary = join(webCoverage, "coverage-summary.json");
  if (!existsSync(summary)) return undefined;
  /** @type {Record<string, { lines: { total: number, covered: number } }>} */
  const { total: _, ...files } = JSON.parse(readFileSync(summary, "utf8"));
  return Object.entries(files)
    .map(([file, { lines }]) => ({ file: relative(root, file), lines: lines.total, covered: lines.covered }))
    .filter(({ file }) => file.startsWith("web/src/"));
}

/** @param {Covered} counts In percent; what holds no code is covered. */
const share = ({ lines, covered }) => (lines === 0 ? 100 : (100 * covered) / lines);

/**
 * The lines to print for `files`: all of them together, then the least covered ones, worst first.
 * @param {string} title
 * @param {Covered[]} files
 */
export function coverageLines(title, files) {
  const all = files.reduce(
    (sum, { lines, covered }) => ({ file: title, lines: sum.lines + lines, covered: sum.covered + covered }),
    { file: title, lines: 0, covered: 0 },
  );
  const worst = [...files]
    .sort((a, b) => share(a) - share(b) || a.file.localeCompare(b.file))
    .slice(0, named);
  return [all, ...worst].map(
    (each) =>
      `${`${share(each).toFixed(1)} %`.padStart(8)}  ${each.file} (${each.covered} of ${each.lines} lines)`,
  );
}

/** Prints the coverage of the parts that this run measured. */
export function printCoverage({ engine = false, web = false }) {
  for (const [title, files] of /** @type {const} */ ([
    ["engine and tools, by engine_tests and tools_tests", engine ? ofEngine() : undefined],
    ["web/src, by tests/web", web ? ofWeb() : undefined],
  ])) {
    if (files) console.log(`\nline coverage\n${coverageLines(title, files).join("\n")}`);
  }
}
