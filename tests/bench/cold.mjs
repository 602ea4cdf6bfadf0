// `npm run bench:cold`: the first visit over a line of 50 MB/s. Compares the time to the first token with that of
// the bytes alone, in turn, and says what the tab took of memory. Needs `npm run build` and gpt2-weights.
// Options: -- --rate (bytes a second), --rounds, --threads, --model (a folder; GPT-2 124M's shapes in q8).
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../engine/toolchain/build.mjs";
import { makeModel } from "./models.mjs";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "50e6" },
    rounds: { type: "string", default: "3" },
    threads: { type: "string", default: "2" },
    model: { type: "string" },
  },
});
const model = values.model ?? makeModel("q8");

const host = spawn(
  process.execPath,
  [
    join(import.meta.dirname, "slow-host.mjs"),
    values.rate,
    `/model/=${model}`,
    `/=${join(root, "web/dist")}`,
  ],
  { stdio: ["ignore", "pipe", "inherit"] },
);
const port = Number(
  await new Promise((resolve) =>
    /** @type {import("node:stream").Readable} */ (host.stdout).once("data", resolve),
  ),
);

/** In the page: all files of the model, three at a time, with nothing done to them. */
async function fetchAlone() {
  const start = performance.now();
  const { pieces } = await (await fetch("model/weights.json")).json();
  const names = ["config.json", ...pieces.map(({ path }) => path)];
  const lane = async () => {
    for (let name; (name = names.shift());) {
      const { body } = await fetch(`model/${name}`);
      const reader = /** @type {ReadableStream<Uint8Array>} */ (body).getReader();
      while (!(await reader.read()).done);
    }
  };
  await Promise.all([lane(), lane(), lane()]);
  return performance.now() - start;
}

/** In the page: from nothing to the first token of a prompt of 64. */
async function firstToken(threads) {
  const prompt = Array.from({ length: 64 }, (_, i) => (i * 7919) % 50000);
  const start = performance.now();
  const { loadModel } = await import(new URL("gpt2.js", location.href).href);
  const marks = {};
  let told = 0;
  const loaded = await loadModel("model/", {
    cache: false,
    prompt,
    threads,
    onProgress({ stage }) {
      told += 1;
      marks[stage] ??= Math.round(performance.now() - start);
    },
  });
  marks.loaded = Math.round(performance.now() - start);
  const options = { maxNewTokens: 1, ignoreEos: true, seed: 1 };
  await loaded.complete(prompt, options);
  return {
    ms: performance.now() - start,
    marks,
    told,
    memoryBytes: loaded.info.memoryBytes,
    weightBytes: loaded.info.weightBytes,
  };
}

const { chromium } = await import("@playwright/test");
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const cdp = await browser.newBrowserCDPSession();

/** In MiB: what the pages' processes have in memory of their own: not of the browser's program. */
async function memory() {
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
  const sizes = processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => readFileSync(`/proc/${id}/status`, "utf8"))
    .map((text) =>
      [/RssAnon:\s+(\d+)/, /RssShmem:\s+(\d+)/]
        .map((pattern) => Number(pattern.exec(text)?.[1] ?? 0) / 1024)
        .reduce((sum, size) => sum + size),
    );
  return Math.max(...sizes);
}

/** What `promise` gives, and the most memory meanwhile. */
async function watchMemory(promise) {
  let most = 0;
  const watching = { now: true };
  const watch = (async () => {
    while (watching.now) {
      most = Math.max(most, await memory());
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  const result = await promise;
  watching.now = false;
  await watch;
  return { result, most };
}

try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${port}/blank`);
    const alone = await page.evaluate(fetchAlone);
    await page.close();
    const fresh = await browser.newPage();
    await fresh.goto(`http://localhost:${port}/blank`);
    const before = await memory();
    const { result, most } = await watchMemory(fresh.evaluate(firstToken, Number(values.threads)));
    const { ms, marks, told, ...bytes } = result;
    await fresh.close();
    const weights = bytes.weightBytes / 1024 ** 2;
    console.log(
      `bytes alone ${alone.toFixed(0)} ms; first token ${ms.toFixed(0)} ms: ${(ms / alone).toFixed(3)} x`,
      JSON.stringify(marks),
      `${told} events; memory ${before.toFixed(0)} to ${most.toFixed(0)} MiB: weights (${weights.toFixed(0)}) + ${(most - before - weights).toFixed(0)}`,
    );
  }
} finally {
  await browser.close();
  host.kill();
}
