// `npm run -s gpt2-weights -- ...`: builds the tool silently if needed, and runs it. `fetch` runs in Node.js, because the
// tool itself has no network code.
import { spawnSync } from "node:child_process";
import { buildPreset, root } from "../engine/toolchain/build.mjs";

const [command, ...args] = process.argv.slice(2);
const cwd = process.env.INIT_CWD ?? process.cwd();

function runTool() {
  try {
    buildPreset("native", { targets: ["gpt2-weights"], quiet: true });
  } catch (error) {
    console.error(error.message);
    return 1;
  }
  const program = `${root}/build/native/weights_tools/gpt2-weights`;
  return spawnSync(program, process.argv.slice(2), { cwd, stdio: "inherit" }).status ?? 1;
}

if (command === "fetch") {
  process.chdir(cwd);
  const { runFetch } = await import("./hub/fetch.mjs");
  await runFetch(args);
} else {
  process.exitCode = runTool();
  if (command === "--help" || command === "-h") {
    console.log(
      "  fetch                       Download a GPT-2 from the Hugging Face Hub: gpt2-weights fetch --help\n",
    );
  }
}
