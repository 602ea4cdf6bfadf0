// `npm run -s gpt2-weights -- ...`: builds the tool silently if needed, and runs it.
import { spawnSync } from "node:child_process";
import { buildPreset, root } from "../engine/toolchain/build.mjs";

try {
  buildPreset("native", { targets: ["gpt2-weights"], quiet: true });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const program = `${root}/build/native/weights_tools/gpt2-weights`;
const cwd = process.env.INIT_CWD ?? process.cwd();
process.exitCode = spawnSync(program, process.argv.slice(2), { cwd, stdio: "inherit" }).status ?? 1;
