// The first visit over a slow line, the second visit, and a Hub model in float32, which is converted. Measures the times until
// the bytes are there, the model is ready and the first token is written, and the tab's memory. Each visit has its own
// Chromium, without DevTools: see tab.mjs. Needs Linux's /proc.
import { once } from "node:events";
import { createReadStream, mkdtempSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { buildPreset, buildWeb, root } from "../../engine/toolchain/build.mjs";
import { makeHubModel, makeModel } from "./models.mjs";
import { openTab, removeProfile } from "./tab.mjs";

/** @import { Flags, Rows } from "./run.mjs" */

const types = {
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
  ".json": "application/json",
};
const page = '<title>-</title><script type="module" src="/bench/in-tab.mjs"></script>';

/**
 * A static host of a given bandwidth, which all connections share. Its page /tab runs in-tab.mjs, which asks it for a task and reports what came of it.
 * @param {Record<string, string>} folders by the prefix of their paths
 * @param {number} rate bytes per second
 */
async function startHost(folders, rate) {
  /** Time at which the line has transferred all bytes so far. */
  let lineFree = 0;
  /** The line sends less than a second's bytes at once. */
  const burstMs = 5;
  /** Bytes of weights that were sent. */
  let sentBytes = 0;
  /** @type {Promise<string>} The tab's next task. */
  let task;
  /** @type {(result: any) => void} */
  let onDone = () => {};

  async function send(response, file) {
    for await (const chunk of createReadStream(file, { highWaterMark: 64 * 1024 })) {
      const now = performance.now();
      lineFree = Math.max(lineFree, now - burstMs) + (chunk.length / rate) * 1000;
      if (lineFree > now) await new Promise((resolve) => setTimeout(resolve, lineFree - now));
      if (response.destroyed) return;
      if (/\.safetensors/.test(file)) sentBytes += chunk.length;
      if (!response.write(chunk)) await once(response, "drain").catch(() => {});
    }
    response.end();
  }

  async function answer(request, response) {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "", "http://host").pathname));
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
    // Scripts and code are kept, as on an ordinary host: with them, a browser keeps what it has compiled.
    response.setHeader("Cache-Control", /^\/[\w-]+\.js$|\.wasm$/.test(path) ? "max-age=3600" : "no-store");
    if (path === "/tab") return response.setHeader("Content-Type", "text/html").end(page);
    if (path === "/task") return response.end(await task);
    if (path === "/done") {
      onDone({ ...JSON.parse((await request.toArray()).join("")), sentBytes });
      return response.end();
    }
    const [prefix = "", folder = ""] = Object.entries(folders).find(([each]) => path.startsWith(each)) ?? [];
    const file = join(folder, path.slice(prefix.length));
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found?.isFile()) return response.writeHead(404).end();
    response.writeHead(200, {
      "Content-Type": types[extname(file)] ?? "application/octet-stream",
      "Content-Length": found.size,
    });
    return request.method === "HEAD" ? response.end() : send(response, file);
  }

  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, "localhost"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());

  return {
    /** The result of `next` in a new tab, and the memory that it takes. */
    async inTab(next, profile) {
      /** @type {(text: string) => void} */
      let giveTask = () => {};
      task = new Promise((resolve) => (giveTask = resolve));
      const done = new Promise((resolve) => (onDone = resolve));
      const tab = await openTab(`http://localhost:${port}/tab`, profile);
      try {
        await new Promise((resolve) => setTimeout(resolve, 3000)); // a browser is busy while it starts
        const watched = await tab.watch(() => {
          sentBytes = 0;
          giveTask(JSON.stringify(next));
          return done;
        });
        if (watched.result.error) throw new Error(watched.result.error);
        return watched;
      } finally {
        await tab.close();
      }
    },
    close: () => server.close(),
  };
}

/** A row: milliseconds, and MiB of the tab's memory beyond a blank tab's and the weights. */
function rowOf({ result, base, taken }, more = {}) {
  const mebi = 1024 ** 2;
  return {
    ...more,
    "ready, ms": result.readyMs,
    "first token, ms": result.ms,
    "first token once ready, ms": result.coldMs,
    "first token when warm, ms": result.warmMs,
    "weights fetched, MB": result.sentBytes / 1e6,
    "peak of the tab, MiB": base + taken,
    "beyond a blank tab and weights, MiB": taken - result.weightBytes / mebi,
  };
}

export const visits = {
  about: "the first visit at --rate, the second visit, and a conversion: times, and memory of the tab",
  /** @param {Flags} flags */
  async measure({ build, model, rate, rounds = 1, threads }) {
    if (build) {
      buildWeb();
      buildPreset("native", { targets: ["gpt2-weights"] });
    }
    const folders = {
      "/model/": model ?? makeModel("q8"),
      "/hub/": makeHubModel(),
      "/bench/": import.meta.dirname,
      "/": join(root, "web/dist"),
    };
    const host = await startHost(folders, Number(rate));
    /** @param {string} folder @param {object} options */
    const load = (folder, options, early = true) => ({
      task: "load",
      folder,
      early,
      options: { threads, ...options },
    });
    /** @type {Rows} */
    const rows = {};
    try {
      for (let round = 1; round <= rounds; round += 1) {
        const alone = (await host.inTab({ task: "fetchAlone" })).result.ms;
        const first = await host.inTab(load("/model/", { cache: false }));
        rows[`first visit ${round}, not stored`] = rowOf(first, { "download alone, ms": alone });
        const profile = mkdtempSync(join(tmpdir(), "gpt2-profile-"));
        try {
          rows[`first visit ${round}, stored`] = rowOf(await host.inTab(load("/model/", {}), profile));
          rows[`second visit ${round}`] = rowOf(await host.inTab(load("/model/", {}, false), profile));
        } finally {
          await removeProfile(profile);
        }
      }
      for (const cache of [false, true]) {
        const name = `conversion of the Hub's float32, ${cache ? "" : "not "}stored`;
        rows[name] = rowOf(await host.inTab(load("/hub/", { weights: "q8", cache })));
      }
    } finally {
      host.close();
    }
    return { title: `${(Number(rate) / 1e6).toFixed(0)} MB a second, ${threads} thread(s)`, rows };
  },
};
