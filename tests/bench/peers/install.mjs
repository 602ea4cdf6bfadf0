// Installs the peers into build/peers, which git ignores.
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
 * Installs the missing ones of `packages`, which maps names to versions.
 * @param {Record<string, string>} packages
 * @param {readonly string[]} options Options of npm.
 */
function install(packages, options = []) {
  const missing = Object.entries(packages).filter(([name, version]) => !isInstalled(name, version));
  if (missing.length === 0) return;
  mkdirSync(peersFolder, { recursive: true });
  // Scripts are off: those of onnxruntime-node fetch a native library that no browser needs, node-llama-cpp's compile.
  run(
    "npm",
    ["install", "--prefix", peersFolder, "--ignore-scripts", "--no-audit", "--no-fund", ...options].concat(
      missing.map(([name, version]) => `${name}@${version}`),
    ),
  );
}

/** Installs wllama and transformers.js. */
export const installPeers = () => install(peerVersions);

/** The package with llama.cpp's libraries for this machine's processor. */
function llamaLibraries() {
  const { platform, arch } = process;
  const known = {
    linux: { x64: "linux-x64", arm64: "linux-arm64" },
    darwin: { x64: "mac-x64", arm64: "mac-arm64-metal" },
    win32: { x64: "win-x64", arm64: "win-arm64" },
  }[platform]?.[arch];
  if (!known) throw new Error(`node-llama-cpp has no prebuilt libraries for ${platform} on ${arch}`);
  return `@node-llama-cpp/${known}`;
}

/** Installs node-llama-cpp with the libraries of this processor, not with those of all graphics cards; returns its folder. */
export function installLlama() {
  install({ "node-llama-cpp": llamaVersion, [llamaLibraries()]: llamaVersion }, ["--omit=optional"]);
  return join(peersFolder, "node_modules/node-llama-cpp");
}

/** Installs Hugging Face's `tokenizers`; returns its folder. */
export function installTokenizers() {
  install({ tokenizers: tokenizersVersion });
  return join(peersFolder, "node_modules/tokenizers");
}
