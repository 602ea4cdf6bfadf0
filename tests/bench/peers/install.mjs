// Installs other engines and libraries into build/peers, which git ignores.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "../../../engine/toolchain/build.mjs";

export const peersFolder = join(root, "build/peers");

/** The versions of the peers that run in a browser. */
export const peerVersions = { "@wllama/wllama": "3.8.1", "@huggingface/transformers": "4.3.1" };

/** The version of `tokenizers`, Hugging Face's Rust library. */
export const tokenizersVersion = "0.23.2";

/** The version of node-llama-cpp. */
export const llamaVersion = "3.22.1";

/** @param {string} name @param {string} version */
const isInstalled = (name, version) => {
  const file = join(peersFolder, "node_modules", name, "package.json");
  return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).version === version;
};

/**
 * Installs the missing ones of `packages`, which maps names to versions; returns the folder of the first.
 * @param {Record<string, string>} packages
 * @param {readonly string[]} options Options of npm.
 */
function install(packages, options = []) {
  const missing = Object.entries(packages).filter(([name, version]) => !isInstalled(name, version));
  if (missing.length > 0) {
    mkdirSync(peersFolder, { recursive: true });
    // Scripts are off: those of onnxruntime-node fetch a native library that no browser needs, node-llama-cpp's compile.
    const flags = ["--prefix", peersFolder, "--ignore-scripts", "--no-audit", "--no-fund", ...options];
    run("npm", ["install", ...flags, ...missing.map(([name, version]) => `${name}@${version}`)]);
  }
  return join(peersFolder, "node_modules", Object.keys(packages)[0] ?? "");
}

/** Installs wllama and transformers.js. */
export const installPeers = () => install(peerVersions);

/** Installs node-llama-cpp with the libraries of this processor, not with those of all graphics cards. */
export function installLlama() {
  const system = { linux: "linux", darwin: "mac", win32: "win" }[process.platform];
  if (!system || !["x64", "arm64"].includes(process.arch))
    throw new Error(`node-llama-cpp has no prebuilt libraries for ${process.platform} on ${process.arch}`);
  const libraries = `@node-llama-cpp/${system}-${process.arch}${system === "mac" && process.arch === "arm64" ? "-metal" : ""}`;
  return install({ "node-llama-cpp": llamaVersion, [libraries]: llamaVersion }, ["--omit=optional"]);
}

/** Installs Hugging Face's `tokenizers`. */
export const installTokenizers = () => install({ tokenizers: tokenizersVersion });
