// Installs the peers into build/peers, which git ignores.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "../../../engine/toolchain/build.mjs";

export const peersFolder = join(root, "build/peers");

export const peerVersions = { "@wllama/wllama": "3.8.1", "@huggingface/transformers": "4.3.1" };

const isInstalled = (name) => {
  const file = join(peersFolder, "node_modules", name, "package.json");
  return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).version === peerVersions[name];
};

/**
 * Those of `names` that are not there yet.
 * @param {string[]} names
 */
export function installPeers(names = Object.keys(peerVersions)) {
  const missing = names.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  mkdirSync(peersFolder, { recursive: true });
  // No scripts: those of onnxruntime-node fetch a native library that no browser needs.
  run(
    "npm",
    ["install", "--prefix", peersFolder, "--ignore-scripts", "--no-audit", "--no-fund"].concat(
      missing.map((name) => `${name}@${peerVersions[name]}`),
    ),
  );
}
