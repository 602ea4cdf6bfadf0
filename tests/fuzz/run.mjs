// `npm run fuzz -- [--seconds N | --runs N] [--seed N] [--workers N] [TARGET...]`: builds the fuzz targets, replays
// their committed corpora, fuzzes each for so long, and prints executions and coverage in a table.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildPreset, root } from "../../engine/toolchain/build.mjs";
import { aptInstall, clangPackages } from "../../engine/toolchain/system-packages.mjs";

const folder = import.meta.dirname;
const work = join(root, "build/fuzz"); // inputs that longer runs found, and failing inputs
const mostSeconds = 20; // that one input may take; some thousand times what it usually takes
const mostBytes = 512; // of an input
const mostMegabytes = 1024; // that a target may take, and that one allocation may ask for

/** The names of the fuzz targets: NAME_fuzz.cc beside this file. */
const fuzzTargets = readdirSync(folder)
  .filter((file) => file.endsWith("_fuzz.cc"))
  .map((file) => file.slice(0, -"_fuzz.cc".length));

const program = (target) => join(root, "build/native-asan/tests/fuzz", `fuzz_${target}`);

/** Runs a target; resolves to its exit status and its output. */
function runTarget(target, args) {
  const dictionary = join(folder, "dictionaries", `${target}.dict`);
  const fixed = [
    `-timeout=${mostSeconds}`,
    `-rss_limit_mb=${mostMegabytes}`,
    `-artifact_prefix=${join(work, "failures", target)}-`,
    "-print_final_stats=1",
    "-print_funcs=0",
    // Long inputs from the start. libFuzzer begins with four bytes, which spell almost no calls or options. It lets them
    // grow so slowly that ten seconds of a slow target end at six.
    "-len_control=0",
    `-max_len=${mostBytes}`,
    ...(existsSync(dictionary) ? [`-dict=${dictionary}`] : []),
  ];
  return new Promise((resolve) => {
    const child = spawn(program(target), [...fixed, ...args], { cwd: root });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (output += text));
    child.on("close", (status, signal) => resolve({ status: status ?? signal, output }));
    child.on("error", (error) => resolve({ status: error.message, output }));
  });
}

const last = (output, pattern) => [...output.matchAll(pattern)].at(-1)?.[1] ?? "";

/** One row of the table; `failure` is the output of a target that failed. */
function summary(target, { status, output }) {
  return {
    target,
    executions: last(output, /stat::number_of_executed_units:\s*(\d+)/g),
    perSecond: last(output, /stat::average_exec_per_sec:\s*(\d+)/g),
    edges: last(output, /cov: (\d+)/g),
    features: last(output, /ft: (\d+)/g),
    corpus: last(output, /corp: (\d+)/g),
    failure: status === 0 ? undefined : output,
  };
}

async function fuzzOne(target, { seconds, runs, seed, found }) {
  const committed = join(folder, "corpus", target);
  const replay = await runTarget(target, ["-runs=0", committed]);
  if (replay.status !== 0) return summary(target, replay);
  mkdirSync(found, { recursive: true });
  const length = runs === undefined ? `-max_total_time=${seconds}` : `-runs=${runs}`;
  const args = [`-seed=${seed}`, length, "-reload=0", found, committed];
  return summary(target, await runTarget(target, args));
}

function report({ target, failure }, seed) {
  const input = last(failure, /Test unit written to (\S+)/g);
  console.error(failure.split("\n").slice(-60).join("\n"));
  console.error(`fuzz_${target} failed (seed ${seed}); replay it with`);
  console.error(
    `  ${relative(root, program(target))} ${input ? relative(root, input) : "(no input was kept)"}`,
  );
}

function printTable(rows) {
  const columns = ["target", "executions", "perSecond", "edges", "features", "corpus"];
  const titles = ["target", "executions", "exec/s", "edges", "features", "corpus"];
  const line = (cells) =>
    cells.map((cell = "", i) => (i === 0 ? cell.padEnd(14) : cell.padStart(11))).join("");
  console.log(line(titles));
  for (const row of rows)
    console.log(`${line(columns.map((name) => row[name]))}${row.failure === undefined ? "" : "  FAILED"}`);
}

/**
 * Fuzzes `targets` for `seconds`, or `runs` executions, each, `workers` at once. What it finds stays in build/fuzz
 * where `keep` is set, and the next run begins with it. Throws where a target fails.
 * @param {{ targets?: string[], seconds: number, runs?: number | undefined, seed?: number | undefined,
 *   workers?: number | undefined, keep: boolean }} options
 */
export async function fuzz({
  targets = fuzzTargets,
  seconds,
  runs,
  seed,
  workers = availableParallelism(),
  keep,
}) {
  aptInstall(clangPackages);
  buildPreset("native-asan", { targets: targets.map((target) => `fuzz_${target}`) });
  mkdirSync(join(work, "failures"), { recursive: true });
  seed ??= Math.floor(Math.random() * 2 ** 31) + 1; // with 0, libFuzzer chooses one and does not print it
  const length = runs === undefined ? `${seconds} s` : `${runs} executions`;
  console.log(`fuzzing ${targets.length} targets for ${length} each, seed ${seed}`);
  const scratch = mkdtempSync(join(work, "run-"));
  const waiting = [...targets];
  const rows = [];
  const worker = async () => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      const found = join(keep ? join(work, "corpus") : scratch, target);
      const row = await fuzzOne(target, { seconds, runs, seed, found });
      if (row.failure !== undefined) report(row, seed);
      rows.push(row);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  rmSync(scratch, { recursive: true });
  printTable(rows.sort((a, b) => (a.target < b.target ? -1 : 1)));
  const failed = rows.filter(({ failure }) => failure !== undefined).map(({ target }) => target);
  if (failed.length > 0) throw new Error(`fuzz targets that failed: ${failed.join(", ")}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        seconds: { type: "string", default: "60" },
        runs: { type: "string" },
        seed: { type: "string" },
        workers: { type: "string" },
      },
    });
    const whole = (name, text) => {
      if (!/^[1-9]\d{0,9}$/.test(text))
        throw new Error(`--${name} is "${text}", expected a whole number from 1 on`);
      return Number(text);
    };
    for (const name of positionals.filter((name) => !fuzzTargets.includes(name)))
      throw new Error(`unknown fuzz target "${name}", expected one of ${fuzzTargets.join(", ")}`);
    await fuzz({
      targets: positionals.length > 0 ? positionals : fuzzTargets,
      seconds: whole("seconds", values.seconds),
      runs: values.runs === undefined ? undefined : whole("runs", values.runs),
      seed: values.seed === undefined ? undefined : whole("seed", values.seed),
      workers: values.workers === undefined ? undefined : whole("workers", values.workers),
      keep: true,
    });
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
