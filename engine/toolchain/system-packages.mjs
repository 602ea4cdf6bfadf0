// Installs Debian packages that are missing, saying which, and what to run where it may not.
import { execFileSync, spawnSync } from "node:child_process";

/** For the native engine and tools; the headers serve the WebAssembly build too. */
export const buildPackages = [
  "cmake",
  "g++",
  "ninja-build",
  "libcli11-dev",
  "libsimde-dev",
  "nlohmann-json3-dev",
];
/** For the tests. */
export const testPackages = [
  "apache2-bin",
  "caddy",
  "chromium",
  "clang-19",
  "clang-format-19",
  "clang-tidy-19",
  "firefox-esr",
  "googletest",
  "libclang-rt-19-dev",
  "libgtest-dev",
  "llvm-19",
  "media-types",
  "nginx-light",
  "webkit2gtk-driver",
  "xvfb",
];
/** For the native benchmarks. */
export const benchPackages = ["chromium", "libbenchmark-dev"];

function missingOf(packages) {
  const { stdout, error } = spawnSync(
    "dpkg-query",
    ["-W", "-f=${Package} ${db:Status-Status}\n", ...packages],
    {
      encoding: "utf8",
    },
  );
  if (error) return packages; // no dpkg
  const installed = new Set(
    stdout
      .split("\n")
      .filter((line) => line.endsWith(" installed"))
      .map((line) => line.split(" ")[0]),
  );
  return packages.filter((name) => !installed.has(name));
}

/** Installs those of `packages` that are missing. Throws, naming the command to run by hand, where it may not. */
export function aptInstall(packages) {
  const missing = missingOf(packages);
  if (missing.length === 0) return;
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const run = (...command) => {
    const [program, ...rest] = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", ...command];
    execFileSync(program, rest, { stdio: ["ignore", 2, 2] });
  };
  console.error(`packages: installing ${missing.join(", ")}`);
  try {
    run("apt-get", "-qq", "update");
    run("apt-get", "-qq", "install", "--yes", "--no-install-recommends", ...missing);
  } catch (error) {
    throw new Error(
      `could not install ${missing.join(", ")} (${error.message}); ` +
        `run: sudo apt-get install ${missing.join(" ")}`,
      { cause: error },
    );
  }
}
