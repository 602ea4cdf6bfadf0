// Finds an Emscripten that is new enough (3.1.69: relaxed SIMD, wasm threads, LLVM 19). Otherwise it makes a private one
// in .cache/emscripten from Debian 13's packages, without touching the system's own.
//
// Prints which one it uses, and writes .cache/emscripten/emscripten.json {root, version}, which wasm.cmake
// reads. A second run finds that file, checks that it is still valid, and ends.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { aptInstall, emscriptenPackages } from "./system-packages.mjs";

const minimum = [3, 1, 69];
/** The version that made every published figure of size and speed. The private copy has it. */
export const measuredVersion = "3.1.69";
const llvm = "19"; // what Debian 13's Emscripten 3.1.69 is built for; emscriptenPackages has it
const cache = resolve(dirname(fileURLToPath(import.meta.url)), "../../.cache/emscripten");
const record = join(cache, "emscripten.json");

const say = (line) => console.error(`emscripten: ${line}`);

/**
 * The version in `root`, or why it cannot be used.
 * @param {string} root
 * @returns {{ version: string, problem?: undefined } | { version?: undefined, problem: string }}
 */
function readVersion(root) {
  const file = join(root, "emscripten-version.txt");
  if (!existsSync(join(root, "emcc.py")) || !existsSync(file)) return { problem: `no Emscripten in ${root}` };
  const version = readFileSync(file, "utf8").replace(/["\s]/g, "");
  const parts = version.split(/[.-]/).map(Number);
  const difference = minimum.map((least, i) => (parts[i] ?? 0) - least).find((d) => d !== 0) ?? 0;
  return difference < 0
    ? { problem: `${root} has version ${version}, expected ${minimum.join(".")} or newer` }
    : { version };
}

/**
 * Folders that may hold an installed Emscripten, the preferred one first. They are that of `emcc` on PATH, those of the
 * system's packages and of Homebrew, and emsdk's.
 * @param {NodeJS.ProcessEnv} env
 */
function installedRoots(env) {
  const onPath = (env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && existsSync(join(folder, "emcc")));
  const roots = onPath.flatMap((folder) => [
    dirname(realpathSync(join(folder, "emcc"))),
    "/usr/share/emscripten",
    "/usr/lib/emscripten",
    join(folder, "../opt/emscripten/libexec"),
  ]);
  if (env.EMSDK) roots.push(join(env.EMSDK, "upstream/emscripten"));
  return roots;
}

/**
 * The first installed Emscripten that can be used, and what is wrong with those before it.
 * @param {NodeJS.ProcessEnv} env
 */
export function findEmscripten(env = process.env) {
  const problems = [];
  for (const root of installedRoots(env)) {
    const { version, problem } = readVersion(root);
    if (version) return { found: { root, version }, problems };
    if (!problem?.startsWith("no ")) problems.push(problem);
  }
  return { found: undefined, problems };
}

/**
 * A notice for a version that did not make the figures; undefined for the one that did.
 * @param {string} version
 */
export const otherVersion = (version) =>
  version === measuredVersion
    ? undefined
    : `${version} is not ${measuredVersion}, with which the published sizes and speeds were measured: yours may differ`;

function use(root, version) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(record, JSON.stringify({ root, version }, null, 2));
  say(`using ${version} in ${root}`);
  const notice = otherVersion(version);
  if (notice) say(notice);
  return { root, version };
}

/** Downloads Debian 13's packages with a private apt state and unpacks them below `stage`. */
function unpackDebian13(stage) {
  const apt = join(stage, "apt");
  for (const folder of ["lists/partial", "archives/partial", "root"])
    mkdirSync(join(apt, folder), { recursive: true });
  const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
  writeFileSync(
    join(apt, "sources.list"),
    `deb [signed-by=${keyring}] http://deb.debian.org/debian trixie main\n`,
  );
  const options = [
    `Dir::Etc::sourcelist=${apt}/sources.list`,
    "Dir::Etc::sourceparts=-",
    `Dir::State::lists=${apt}/lists`,
    `Dir::Cache=${apt}`,
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
  const packages = ["emscripten", "binaryen", "libc6", "libstdc++6", "libgcc-s1"];
  say(`fetching Debian 13's ${packages.join(", ")} (250 MB) into ${cache}`);
  execFileSync("apt-get", [...options, "-qq", "update"], { stdio: ["ignore", 2, 2] });
  execFileSync("apt-get", [...options, "-qq", "download", ...packages], {
    cwd: apt,
    stdio: ["ignore", 2, 2],
  });
  for (const file of readdirSync(apt).filter((name) => name.endsWith(".deb"))) {
    execFileSync("dpkg", ["-x", join(apt, file), join(stage, "root")]);
  }
  rmSync(apt, { recursive: true });
}

/** Scripts that start binaryen's programs through the unpacked, newer C library. */
function wrapBinaryen(stage, final) {
  const bin = join(stage, "binaryen/bin");
  mkdirSync(bin, { recursive: true });
  for (const name of readdirSync(join(stage, "root/usr/bin")).filter((file) => file.startsWith("wasm"))) {
    const libraries = `${final}/root/lib/x86_64-linux-gnu:${final}/root/usr/lib/x86_64-linux-gnu`;
    const loader = `${final}/root/usr/lib64/ld-linux-x86-64.so.2`;
    const script = `#!/bin/sh\nexec "${loader}" --library-path "${libraries}" "${final}/root/usr/bin/${name}" "$@"\n`;
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
}

function makePrivateCopy() {
  if (process.arch !== "x64" || !existsSync("/usr/bin/dpkg")) {
    throw new Error(
      `missing: Emscripten ${minimum.join(".")} or newer, on PATH or in $EMSDK; this program makes a private copy only on x86-64 ` +
        "Debian; run: git clone https://github.com/emscripten-core/emsdk && emsdk/emsdk install latest && " +
        "emsdk/emsdk activate latest && export EMSDK=$PWD/emsdk",
    );
  }
  aptInstall(emscriptenPackages);
  const final = join(cache, "debian13");
  const stage = `${final}.partial`;
  rmSync(stage, { recursive: true, force: true });
  rmSync(final, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  unpackDebian13(stage);
  wrapBinaryen(stage, final);
  const root = join(stage, "root/usr/share/emscripten");
  writeFileSync(join(root, "package.json"), "{}"); // otherwise Node reads this project's file, and its "type"
  say("adding acorn from npm");
  execFileSync("npm", ["install", "--silent", "--no-save", "--prefix", root, "--ignore-scripts", "acorn@8"], {
    stdio: ["ignore", 2, 2],
  });
  // Emscripten prefers a configuration in its own folder to any other.
  writeFileSync(
    join(root, ".emscripten"),
    [
      "LLVM_ROOT = '/usr/bin'",
      `BINARYEN_ROOT = '${final}/binaryen'`,
      `NODE_JS = '${process.execPath}'`,
      `LLVM_ADD_VERSION = '${llvm}'`,
      `CLANG_ADD_VERSION = '${llvm}'`,
      "FROZEN_CACHE = True",
      `CACHE = '${final}/root/usr/share/emscripten/cache'`,
      "",
    ].join("\n"),
  );
  renameSync(stage, final); // only now does the copy count as complete
  return join(final, "root/usr/share/emscripten");
}

/** Finds or makes an Emscripten; returns {root, version}. If it cannot, throws an error that says what to do. */
export function ensureEmscripten() {
  if (existsSync(record)) {
    const known = JSON.parse(readFileSync(record, "utf8"));
    if (readVersion(known.root).version === known.version) {
      const notice = otherVersion(known.version);
      if (notice) say(notice);
      return known;
    }
  }
  const { found, problems } = findEmscripten();
  for (const problem of problems) say(problem);
  if (found) return use(found.root, found.version);
  const root = makePrivateCopy();
  const { version, problem } = readVersion(root);
  if (!version) throw new Error(problem);
  return use(root, version);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    ensureEmscripten();
  } catch (error) {
    say(error.message);
    process.exit(1);
  }
}
