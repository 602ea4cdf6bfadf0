// Identifies the build of the package from its inputs.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const sources = join(root, "web/src");
const engine = join(root, "build/wasm/engine");

export const packageFolder = join(root, "build/package");

/** The names of the engine's builds and parts, in build/wasm/engine. */
const engineFiles = () => readdirSync(engine).filter((name) => /^gpt2-[\w-]+\.wasm$/.test(name));

/** The version, and a hash of all inputs of the build: only files of one release work together. */
export function releaseName() {
  const hash = createHash("sha256");
  const files = [
    ...readdirSync(sources, { encoding: "utf8", recursive: true })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(sources, name)),
    ...engineFiles().map((name) => join(engine, name)),
  ].sort();
  for (const file of files) hash.update(file.slice(root.length)).update(readFileSync(file));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return `${version}-${hash.digest("hex").slice(0, 8)}`;
}
