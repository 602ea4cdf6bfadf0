// Installs Debian packages that are missing, saying which and why it cannot where it cannot.
import { execFileSync, spawnSync } from "node:child_process";

const isInstalled = (name) =>
  spawnSync("dpkg-query", ["-W", "-f=${Status}", name], { encoding: "utf8" }).stdout === "install ok installed";

/** Installs those of `packages` that are missing. Throws, naming the command to run by hand, where it may not. */
export function aptInstall(packages) {
  const missing = packages.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  const asRoot = process.getuid() === 0 ? [] : ["sudo", "-n"];
  const run = (...command) => {
    const [program, ...rest] = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", ...command];
    execFileSync(program, rest, { stdio: ["ignore", 2, 2] });
  };
  console.error(`packages: installing ${missing.join(", ")}`);
  try {
    run("apt-get", "-qq", "update");
    run("apt-get", "-qq", "install", "--yes", "--no-install-recommends", ...missing);
  } catch (error) {
    throw new Error(`could not install ${missing.join(", ")} (${error.message}); ` +
      `run: sudo apt-get install ${missing.join(" ")}`);
  }
}
