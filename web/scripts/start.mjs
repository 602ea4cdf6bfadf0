// `npm start`: builds the page and serves it. `npm start -- --port 8080 --host`.
// The first time, it serves the page when the build of the engine that most browsers load is ready. It builds the rest
// meanwhile: a request for a file of the rest waits (web/vite.config.ts).
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildFirstPage, buildWeb, hasEngine, root } from "../../engine/toolchain/build.mjs";

/** This file exists while the rest is built. */
const unfinished = join(root, "build/web-unfinished");
rmSync(unfinished, { force: true });
const isFirst = !hasEngine();
try {
  if (isFirst) await buildFirstPage();
  else buildWeb();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

/** @type {import("node:child_process").ChildProcess[]} */
const children = [];
const start = (program, args, env = {}) => {
  const child = spawn(program, args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } });
  children.push(child);
  return child;
};
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
  process.on(signal, () => children.forEach((child) => child.kill(signal)));

if (isFirst) {
  mkdirSync(join(root, "build"), { recursive: true });
  writeFileSync(unfinished, "");
  console.log("The page is ready. What other browsers and other models need follows in a minute or two.");
  const rest = start("nice", ["-n", "10", process.execPath, "engine/toolchain/build.mjs", "page"]);
  rest.on("error", () => rmSync(unfinished, { force: true }));
  rest.on("close", (status) => {
    rmSync(unfinished, { force: true });
    console.log(status === 0 ? "Everything is built." : "The rest is not built: run npm start again.");
  });
}
console.log("Open the address below in a browser; Ctrl + C ends the server.");
const args = ["vite", "preview", "-c", "web/vite.config.ts", ...process.argv.slice(2)];
start("npx", args, { GPT2_UNFINISHED: unfinished }).on("exit", (status) => process.exit(status ?? 1));
