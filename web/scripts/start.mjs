// `npm start`: builds the page and serves it. `npm start -- --port 8080 --host`.
// The first time, it serves the page when the build of the engine that most browsers load is ready. It builds the rest
// meanwhile: a request for a file of the rest waits (web/vite.config.ts).
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
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

/** The build of the rest, in a process group of its own. @type {import("node:child_process").ChildProcess | undefined} */
let rest;
function stopRest() {
  if (rest?.pid) process.kill(-rest.pid, "SIGTERM");
}
if (isFirst) {
  writeFileSync(unfinished, "");
  console.log(
    "The page is ready for this browser and the demo model. The rest of the build takes another minute or two.",
  );
  const build = ["-n", "10", process.execPath, "engine/toolchain/build.mjs", "page"];
  rest = spawn("nice", build, { cwd: root, stdio: "inherit", detached: true });
  rest.on("error", () => rmSync(unfinished, { force: true }));
  rest.on("exit", (status) => {
    rest = undefined;
    rmSync(unfinished, { force: true });
    console.log(status === 0 ? "Everything is built." : "The rest of the build failed: run npm start again.");
  });
}

console.log("Open the address below in a browser; Ctrl + C ends the server.");
const vite = ["node_modules/vite/bin/vite.js", "preview", "-c", "web/vite.config.ts"];
const server = spawn(process.execPath, [...vite, ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, GPT2_UNFINISHED: unfinished },
});
server.on("exit", (status) => {
  stopRest();
  process.exit(status ?? 1);
});
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
  process.on(signal, () => {
    stopRest();
    server.kill(signal);
  });
