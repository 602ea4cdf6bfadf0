// Builds parts of the project, and first installs what they need: `node engine/toolchain/build.mjs PART...`
// The parts are native, native-asan, native-tsan, wasm, package, web and page. web includes package, and package includes
// wasm. page is web without the package's types.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureEmscripten, findEmscripten } from "./emscripten.mjs";
import { aptInstall, buildPackages, emscriptenPackages, isOnPath, wasmPackages } from "./system-packages.mjs";

export const root = resolve(fileURLToPath(new URL("../..", import.meta.url)));

/** Runs a program to its end. Its output goes to standard error, because standard output belongs to the caller. */
export function run(program, args, { quiet = false, env = {} } = {}) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: quiet ? ["ignore", "pipe", "pipe"] : ["ignore", 2, 2],
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status === 0) return;
  if (quiet && !error) process.stderr.write(stdout + stderr);
  throw new Error(
    `${program} ${args.slice(0, 4).join(" ")} failed (${error?.message ?? `exit status ${status}`})`,
  );
}

const stamp = join(root, "node_modules/.installed");
const npmCi = ["ci", "--no-audit", "--no-fund"];

function hasNodeModules() {
  const lock = join(root, "package-lock.json");
  return existsSync(stamp) && statSync(stamp).mtimeMs >= statSync(lock).mtimeMs;
}

const reportInstalling = () => console.error("npm: installing the packages of package-lock.json");

/** Installs the packages of package-lock.json, if they have changed since it last did. */
export function ensureNodeModules() {
  if (hasNodeModules()) return;
  reportInstalling();
  run("npm", npmCi);
  writeFileSync(stamp, "");
}

/**
 * Runs `work` while npm installs the packages. If npm fails, ensureNodeModules tries again and reports the error.
 * @param {() => void} work
 */
export async function whileInstalling(work) {
  if (hasNodeModules()) return work();
  reportInstalling();
  const npm = spawn("npm", npmCi, { cwd: root, stdio: ["ignore", 2, 2] });
  const status = new Promise((resolve) => {
    npm.on("error", () => resolve(1));
    npm.on("close", resolve);
  });
  work();
  if ((await status) === 0) writeFileSync(stamp, "");
}

/**
 * Whether `preset` was configured with GPT2_TESTS=`tests` and with the current options of the preset.
 * @param {string} preset
 * @param {string} tests
 */
function isConfigured(preset, tests) {
  const file = join(root, "build", preset, "CMakeCache.txt");
  if (!existsSync(file)) return false;
  const cache = readFileSync(file, "utf8");
  const { configurePresets } = JSON.parse(readFileSync(join(root, "CMakePresets.json"), "utf8"));
  const [own, base] = [preset, "base"].map(
    (wanted) => configurePresets.find(({ name }) => name === wanted).cacheVariables,
  );
  const options = Object.entries({ ...base, ...own, GPT2_TESTS: tests });
  return options.every(
    ([name, value]) => !name.startsWith("GPT2_") || new RegExp(`^${name}:\\w+=${value}$`, "m").test(cache),
  );
}

/** Installs what the WebAssembly build needs. If that is impossible, one error names everything that is missing. */
function prepareWasm() {
  if (isOnPath("apt-get")) {
    // Together: each installation begins with an update of apt's lists.
    aptInstall([...wasmPackages, ...(findEmscripten().found ? [] : emscriptenPackages)]);
    ensureEmscripten();
    return;
  }
  const problems = [() => aptInstall(wasmPackages), ensureEmscripten].flatMap((prepare) => {
    try {
      prepare();
      return [];
    } catch (error) {
      return [error.message];
    }
  });
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

/**
 * Configures a preset of CMakePresets.json, unless its configuration is up to date.
 * @param {string} preset
 */
export function configurePreset(preset, { quiet = false } = {}) {
  if (preset === "wasm") prepareWasm();
  else aptInstall(buildPackages);
  // Someone who only runs the page needs no tests. `npm test` installs GoogleTest and configures again.
  const tests = existsSync("/usr/src/googletest") ? "ON" : "OFF";
  if (!isConfigured(preset, tests)) run("cmake", ["--preset", preset, `-DGPT2_TESTS=${tests}`], { quiet });
}

/**
 * Configures and builds a preset of CMakePresets.json.
 * @param {string} preset
 * @param {{ targets?: string[], quiet?: boolean }} options
 */
export function buildPreset(preset, { targets = [], quiet = false } = {}) {
  configurePreset(preset, { quiet });
  run("cmake", ["--build", "--preset", preset, ...targets.flatMap((target) => ["--target", target])], {
    quiet,
  });
}

export const variants = ["simd", "simd-relaxed", "threads", "threads-relaxed"];
/** The modules that only some pages need, each in a script of the same name. */
export const engineParts = ["convert", "languages"];
/** The targets of the four builds of the engine, and of these modules. */
export const engineTargets = [...variants, ...engineParts].map((name) => `gpt2-${name}`);
/** The build that the page of `npm start` loads first in most browsers. */
export const firstVariant = "threads-relaxed";
/** The targets of the engine's tests for browsers. */
export const browserTestTargets = variants.map((name) => `engine_tests-${name}`);

/** Builds build/package, which npm packs. Only sites need the types, which take a tenth of the time. */
export function buildPackage({ types = true } = {}) {
  ensureNodeModules();
  buildPreset("wasm", { targets: engineTargets });
  if (types) run("npx", ["tsc", "-b", "web"]);
  run("node", ["web/scripts/package.mjs", ...(types ? [] : ["--without-types"])]);
}

const vite = ["vite", "build", "-c", "web/vite.config.ts", "--logLevel", "warn"];

/** Builds web/dist, the page with the package. The package must be built already. */
export function buildPage() {
  run("npx", vite);
}

/** Builds the page, and the parts of the package that it needs. */
export function buildWeb() {
  buildPackage({ types: false });
  buildPage();
}

/** Whether the engine was built before. */
export const hasEngine = () =>
  engineTargets.every((target) => existsSync(join(root, `build/wasm/engine/${target}.wasm`)));

/** Builds only what the page loads first: one build of the engine, no converter, no service worker. */
export async function buildFirstPage() {
  await whileInstalling(() => buildPreset("wasm", { targets: [`gpt2-${firstVariant}`] }));
  ensureNodeModules();
  run("node", ["web/scripts/package.mjs", "--first-page"]);
  run("npx", vite, { env: { GPT2_FIRST_PAGE: "1" } });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const part of process.argv.slice(2)) {
      if (part === "page") buildWeb();
      else if (part === "web" || part === "package") buildPackage();
      else buildPreset(part);
      if (part === "web") buildPage();
    }
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
