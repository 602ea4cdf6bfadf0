// Installs missing Debian packages, and prints their names. If it may not install them, it says what to run. Without apt
// (macOS, Fedora), it looks for the programs and headers, and says how to install the missing ones.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** For the WebAssembly build of the engine, in addition to Emscripten. */
export const wasmPackages = ["cmake", "ninja-build", "nlohmann-json3-dev"];
/** For the private copy of Emscripten. */
export const emscriptenPackages = ["clang-19", "lld-19", "llvm-19", "python3", "debian-archive-keyring"];
/** For the native engine and tools. */
export const buildPackages = [...wasmPackages, "g++", "libcli11-dev", "libsimde-dev"];
/** For the C++ tests. */
export const cppTestPackages = ["googletest", "libgtest-dev"];
/** For sanitizers, fuzzing and lint, with the C++ tests that they build or read. */
export const clangPackages = [
  ...["clang-19", "clang-format-19", "clang-tidy-19", "libclang-rt-19-dev", "llvm-19"],
  ...cppTestPackages,
];
export const chromiumPackages = ["chromium", "chromium-headless-shell"];
/** Common web servers, with which tests serve the page. */
export const serverPackages = ["apache2-bin", "caddy", "media-types", "nginx-light"];
export const otherBrowserPackages = ["firefox-esr", "webkit2gtk-driver", "xvfb"];
/** For all tests. */
export const testPackages = [
  ...clangPackages,
  ...chromiumPackages,
  ...serverPackages,
  ...otherBrowserPackages,
];
/** For `npm run test:embed`, in addition: site generators that npm does not have. */
export const bundlerPackages = ["hugo"];
/** For the native benchmarks. */
export const benchPackages = ["chromium", "libbenchmark-dev"];
/** For the README's animation. */
export const pictureTools = ["webp"];

/**
 * The program or header that a Debian package contains, and the names of that package in other package managers.
 * @typedef {{ program?: string, header?: string, brew: string, dnf: string }} Equivalent
 * @type {Record<string, Equivalent>}
 */
const equivalents = {
  cmake: { program: "cmake", brew: "cmake", dnf: "cmake" },
  "g++": { program: "c++", brew: "gcc", dnf: "gcc-c++" },
  "libcli11-dev": { header: "CLI/CLI.hpp", brew: "cli11", dnf: "cli11-devel" },
  "libsimde-dev": { header: "simde/wasm/simd128.h", brew: "simde", dnf: "simde-devel" },
  "ninja-build": { program: "ninja", brew: "ninja", dnf: "ninja-build" },
  "nlohmann-json3-dev": { header: "nlohmann/json.hpp", brew: "nlohmann-json", dnf: "json-devel" },
};

/** The folders that are searched for headers. find_path in versions.cmake searches these, and more. */
const includeFolders = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"];

/**
 * Whether one of the folders of `path` has `program`.
 * @param {string} program
 * @param {string} path As the environment variable PATH.
 */
export const isOnPath = (program, path = process.env.PATH ?? "") =>
  path.split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, program)));

/**
 * On a machine without apt: names the missing ones of `packages`, and the command that installs them; undefined if none is missing.
 * @param {readonly string[]} packages Debian's names.
 * @param {{ path?: string, includes?: readonly string[] }} where
 * @returns {string | undefined}
 */
export function missingWithoutApt(
  packages,
  { path = process.env.PATH ?? "", includes = includeFolders } = {},
) {
  const missing = packages.filter((name) => {
    const { program, header } = equivalents[name] ?? {};
    if (program) return !isOnPath(program, path);
    return !header || !includes.some((folder) => existsSync(join(folder, header)));
  });
  if (missing.length === 0) return undefined;
  const manager = /** @type {const} */ (["brew", "dnf"]).find((program) => isOnPath(program, path));
  const known = missing.flatMap((name) => equivalents[name] ?? []);
  const what = missing.map(
    (name) => equivalents[name]?.program ?? equivalents[name]?.header ?? `Debian's package ${name}`,
  );
  const remedy =
    manager === undefined || known.length < missing.length
      ? "install them with your system's package manager"
      : `run: ${manager === "dnf" ? "sudo dnf" : manager} install ${known.map((names) => names[manager]).join(" ")}`;
  return `missing: ${what.join(", ")}; this system has no apt-get; ${remedy}`;
}

function missingOf(packages) {
  const { stdout, error } = spawnSync(
    "dpkg-query",
    ["-W", "-f=${Package} ${db:Status-Status}\n", ...packages],
    {
      encoding: "utf8",
    },
  );
  if (error) return packages; // no dpkg: apt-get will say so
  const installed = new Set(
    stdout
      .split("\n")
      .filter((line) => line.endsWith(" installed"))
      .map((line) => line.split(" ")[0]),
  );
  return packages.filter((name) => !installed.has(name));
}

/**
 * Installs the missing ones of `packages`. If it may not, throws an error with the command to run by hand.
 * @param {readonly string[]} packages
 */
export function aptInstall(packages) {
  if (!isOnPath("apt-get")) {
    const problem = missingWithoutApt(packages);
    if (problem) throw new Error(problem);
    return;
  }
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
