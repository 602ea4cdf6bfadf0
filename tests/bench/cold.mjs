// `npm run bench:cold`: the first visit over a line of 50 MB/s, the second visit, and a Hub model in float32, which is
// converted. It reports the times until the bytes are there, the model is ready and the first token is written. It also
// reports the tab's memory beyond the weights. Each visit has its own Chromium, without DevTools: see tab.mjs. Needs `npm
// run build` and gpt2-weights, and Linux's /proc. Options: -- --rate (bytes a second), --rounds,
// --threads, --model (a folder; GPT-2 124M's shapes in q8), --mappings (says where memory is).
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { root } from "../../engine/toolchain/build.mjs";
import { makeHubModel, makeModel } from "./models.mjs";
import { openTab, removeProfile } from "./tab.mjs";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "50e6" },
    rounds: { type: "string", default: "3" },
    threads: { type: "string", default: "2" },
    model: { type: "string" },
    mappings: { type: "boolean", default: false },
  },
});
const folders = {
  "/model/": values.model ?? makeModel("q8"),
  "/hub/": makeHubModel(),
  "/bench/": import.meta.dirname,
  "/": join(root, "web/dist"),
};
const threads = Number(values.threads);
const mebi = 1024 ** 2;

/** A host; what it tells comes line by line. */
function startHost() {
  const places = Object.entries(folders).map(([prefix, folder]) => `${prefix}=${folder}`);
  const host = spawn(process.execPath, [join(import.meta.dirname, "slow-host.mjs"), values.rate, ...places], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  return { host, next };
}
const { host, next } = startHost();
const port = await next();

/** What comes of `task` in a tab of its own, with what that takes of memory. */
async function inTab(task, profile) {
  const tab = await openTab(`http://localhost:${port}/tab`, profile);
  try {
    await new Promise((resolve) => setTimeout(resolve, 3000)); // a browser is busy while it starts
    const watched = await tab.watch(async () => {
      host.stdin.write(`${JSON.stringify(task)}\n`);
      return next();
    }, values.mappings);
    if (watched.result.error) throw new Error(watched.result.error);
    return watched;
  } finally {
    await tab.close();
  }
}

function tellMemory({ result, base, taken, mappings }) {
  const weights = result.weightBytes / mebi;
  const besides = `a blank tab's ${base.toFixed(0)} and weights ${weights.toFixed(0)}`;
  const [more, all] = [taken - weights, base + taken].map((size) => size.toFixed(0));
  console.log(
    `  memory: at most ${all} MiB: ${besides} + ${more} MiB`,
    ...mappings.map((mapping) => `\n    ${mapping}`),
  );
}

const load = (folder, options, early = true) => ({
  ...{ task: "load", folder, early },
  options: { threads, ...options },
});

try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const alone = (await inTab({ task: "fetchAlone" })).result.ms;
    const cold = await inTab(load("/model/", { cache: false }));
    const { ms, marks, told } = cold.result;
    const bytes = `bytes alone ${alone.toFixed(0)} ms`;
    console.log(`first visit: ${bytes}; first token ${ms.toFixed(0)} ms: ${(ms / alone).toFixed(3)} x`);
    console.log(`  ${JSON.stringify(marks)}, ${told} events`);
    tellMemory(cold);

    const profile = mkdtempSync(join(tmpdir(), "gpt2-profile-"));
    try {
      tellMemory(await inTab(load("/model/", {}), profile));
      const warm = await inTab(load("/model/", {}, false), profile);
      const { readyMs, sentBytes, coldMs, warmMs } = warm.result;
      console.log(`second visit: ready in ${readyMs.toFixed(0)} ms, ${sentBytes} bytes of weights fetched`);
      const [first, later] = [coldMs, warmMs].map((time) => time.toFixed(0));
      console.log(
        `  first token of a prompt of 64 then: ${first} ms, and ${later} once all is compiled and warm`,
      );
      tellMemory(warm);
    } finally {
      await removeProfile(profile);
    }
  }
  for (const cache of [false, true]) {
    const converted = await inTab(load("/hub/", { weights: "q8", cache }));
    const how = cache ? "and stored" : "not stored";
    console.log(`a hub's float32, converted, ${how}: ${(converted.result.readyMs / 1000).toFixed(1)} s`);
    tellMemory(converted);
  }
} finally {
  host.kill();
}
