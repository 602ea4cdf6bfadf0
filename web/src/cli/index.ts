// gpt2-cli.js: the program `gpt2-wasm`.
import { main } from "./main.js";

const controller = new AbortController();
// The second signal ends the program at once, as if it were not handled.
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort(name));
// Idle connections would keep the process alive for seconds.
process.exit(await main(process.argv.slice(2), controller.signal));
