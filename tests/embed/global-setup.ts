// Packs the package, once for all tests.
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { root, tarball } from "./app.js";

export default function pack(): void {
  const folder = dirname(tarball);
  mkdirSync(folder, { recursive: true });
  // The package is built already. Without --ignore-scripts, `npm pack` would build it again.
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const [packed] = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8" })) as [
    { filename: string },
  ];
  renameSync(join(folder, packed.filename), tarball);
}
