// Bundles a fuzz target written in TypeScript, and runs it. target.ts says what such a target is.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../engine/toolchain/build.mjs";

const folder = import.meta.dirname;
const suffix = "_fuzz.ts";

/** The names of all targets here. */
export const webFuzzTargets = readdirSync(folder)
  .filter((file) => file.endsWith(suffix))
  .map((file) => file.slice(0, -suffix.length));

/**
 * Runs `target` for `seconds`, or for `runs` executions if given.
 * @param {string} target
 * @param {{ seconds: number, runs?: number | undefined, seed: number }} options
 * @returns {Promise<{ target: string, executions: string, perSecond: string, failure: string | undefined }>}
 *   `failure` is what the target wrote when it failed.
 */
export async function runWebTarget(target, { seconds, runs, seed }) {
  const { build } = await import("esbuild"); // late: `npm test` installs the packages after this file is loaded
  const bundle = join(root, "build/fuzz/web", `${target}.mjs`);
  await build({
    entryPoints: [join(folder, target + suffix)],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    sourcemap: "inline",
    define: { GPT2_RELEASE: '"fuzz"' },
    logLevel: "warning",
  });
  const length = runs === undefined ? ["seconds", seconds] : ["runs", runs];
  const args = ["--enable-source-maps", join(folder, "child.mjs"), bundle, seed, ...length].map(String);
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (output += text));
    child.on("close", (status, signal) => {
      const counts = /^\{"executions":(\d+),"perSecond":(\d+)\}$/m.exec(output);
      const failed = status !== 0 || counts === null;
      resolve({
        target,
        executions: counts?.[1] ?? "",
        perSecond: counts?.[2] ?? "",
        failure: failed ? `${output}\n(ended with ${status ?? signal})` : undefined,
      });
    });
  });
}
