// `npm run test:embed`: every example with its own bundler, installed into build/embed. Takes minutes.
import { spawnSync } from "node:child_process";
import { buildPackage, buildPreset, root } from "../../engine/toolchain/build.mjs";
import { aptInstall, bundlerPackages, testPackages } from "../../engine/toolchain/system-packages.mjs";

try {
  aptInstall([...testPackages, ...bundlerPackages]);
  buildPreset("native", { targets: ["gpt2-weights"] });
  buildPackage();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const args = ["playwright", "test", "-c", "tests/embed/playwright.config.ts", ...process.argv.slice(2)];
const { status } = spawnSync("npx", args, { cwd: root, stdio: "inherit" });
process.exit(status ?? 1);
