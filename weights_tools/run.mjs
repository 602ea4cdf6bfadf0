// `npm run -s gpt2-weights -- ...`: builds the tool when needed, silently, and runs it.
import { spawnSync } from "node:child_process";
import { buildPreset, root } from "../engine/toolchain/build.mjs";

try {
  buildPreset("native", { targets: ["gpt2-weights"], quiet: true });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const { status } = spawnSync(`${root}/build/native/weights_tools/gpt2-weights`, process.argv.slice(2), {
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdio: "inherit",
});
process.exit(status ?? 1);
