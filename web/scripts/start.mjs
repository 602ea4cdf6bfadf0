// `npm start`: builds everything that the page needs and serves it. `npm start -- --port 8080 --host`.
import { spawn } from "node:child_process";
import {
  buildPreset,
  buildWeb,
  engineTargets,
  root,
  whileInstalling,
} from "../../engine/toolchain/build.mjs";

try {
  await whileInstalling(() => buildPreset("wasm", { targets: engineTargets }));
  buildWeb();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
console.log("Open the address below in a browser; Ctrl + C ends the server.");
const server = spawn("npx", ["vite", "preview", "-c", "web/vite.config.ts", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
server.on("exit", (status) => process.exit(status ?? 1));
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
  process.on(signal, () => server.kill(signal));
