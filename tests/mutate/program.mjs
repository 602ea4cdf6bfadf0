// Programs that may do anything: they run with bounded time and memory.
import { spawn } from "node:child_process";

const mostMemory = 8 * 1024 * 1024; // KiB of address space

/**
 * The commands with which a shell bounds the programs that it starts.
 * @param {number} cpuSeconds
 * @param {number | "unlimited"} memory
 */
export const limits = (cpuSeconds, memory = mostMemory) =>
  `ulimit -v ${memory} -t ${Math.ceil(cpuSeconds)} -c 0`;

/**
 * Runs a shell command. Resolves to whether it succeeded, its output, how it ended ("passed", "failed", "crashed" or
 * "timed out") and the processor time that it took, in seconds.
 * @param {string} command
 * @param {{ cwd: string, cpuSeconds: number, wallSeconds: number, memory?: number | "unlimited",
 *   env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ isOk: boolean, outcome: string, output: string, seconds: number }>}
 */
export function run(command, { cwd, cpuSeconds, wallSeconds, memory = mostMemory, env = {} }) {
  return new Promise((resolve) => {
    const limited = `${limits(cpuSeconds, memory)}; ${command}; status=$?; times >&3; exit $status`;
    const child = spawn("bash", ["-c", limited], {
      cwd,
      env: { ...process.env, ...env },
      detached: true, // a separate process group, so that all processes end together
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    let output = "";
    let times = "";
    child.stdout?.on("data", (data) => (output = (output + data).slice(-200_000)));
    child.stderr?.on("data", (data) => (output = (output + data).slice(-200_000)));
    child.stdio[3]?.on("data", (data) => (times += data));
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, wallSeconds * 1000);
    child.on("close", (status) => {
      clearTimeout(timer);
      // The times of the children: minutes and seconds in user mode, then in kernel mode.
      const [user, system] = [...(times.trim().split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)].map(
        ([, minutes, seconds]) => 60 * Number(minutes) + Number(seconds),
      );
      const outcome =
        status === 0
          ? "passed"
          : isLate || status === 128 + 24 || status === 128 + 9
            ? "timed out"
            : status === null || status > 128
              ? "crashed"
              : "failed";
      resolve({ isOk: status === 0, outcome, output, seconds: (user ?? 0) + (system ?? 0) });
    });
  });
}
