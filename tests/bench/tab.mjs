// A host of the built page, and a tab of Chromium on it that runs the functions of in-page.mjs. It has no DevTools, unlike Playwright's
// pages: with DevTools, the browser keeps copies of what the page fetches, up to 100 MB.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, mkdtempSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "@playwright/test";
import { root } from "../../engine/toolchain/build.mjs";

const debianChromium = "/usr/bin/chromium";
export const chromiumPath = existsSync(debianChromium) ? debianChromium : chromium.executablePath();

/** Always the same, because a profile stores a model for one origin. */
const port = 4185;
/** The line sends less than a second's bytes at once. */
const burstMs = 5;
const types = { ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };
const blank = '<title>-</title><script type="module" src="/bench/in-page.mjs"></script>';

export const makeProfile = () => mkdtempSync(join(tmpdir(), "gpt2-profile-"));
/** Processes of the browser may still write to the folder for a moment after it has ended. @param {string} folder */
export const removeProfile = (folder) =>
  rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });

/**
 * Runs `use` with `ask`, which runs a function of in-page.mjs in a new tab. `sentBytes` counts the weights that were sent.
 * `folders` maps prefixes of paths to folders. All connections share `rate` bytes per second. A given `profile` is kept.
 * @template T
 * @param {Record<string, string>} folders
 * @param {(tab: { ask: (name: string, argument?: object) => Promise<any>, sentBytes: () => number }) => Promise<T>} use
 * @param {{ rate?: number, profile?: string, jsFlags?: string }} options
 */
export async function inTab(folders, use, { rate = Infinity, profile, jsFlags = "" } = {}) {
  const places = Object.entries({
    ...folders,
    "/bench/": import.meta.dirname,
    "/": join(root, "web/dist"),
  });
  let lineFree = 0; // when the line has transferred all bytes so far
  let weightBytes = 0; // that were sent
  let giveTask = (/** @type {object} */ _task) => {};
  let onAnswer = (/** @type {any} */ _answer) => {};

  async function send(response, file) {
    for await (const chunk of createReadStream(file, { highWaterMark: 64 * 1024 })) {
      const now = performance.now();
      lineFree = Math.max(lineFree, now - burstMs) + (chunk.length / rate) * 1000;
      if (lineFree > now) await sleep(lineFree - now);
      if (response.destroyed) return;
      if (file.includes(".safetensors")) weightBytes += chunk.length;
      if (!response.write(chunk)) await once(response, "drain").catch(() => {});
    }
    response.end();
  }
  async function answer(request, response) {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://host").pathname));
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
    // Scripts and code are kept, as on an ordinary host: with them, a browser keeps what it has compiled.
    response.setHeader("Cache-Control", /^\/[\w-]+\.js$|\.wasm$/.test(path) ? "max-age=3600" : "no-store");
    if (path === "/tab") return response.setHeader("Content-Type", "text/html").end(blank);
    if (path === "/next") {
      const given = JSON.parse((await request.toArray()).join(""));
      const task = new Promise((resolve) => (giveTask = resolve));
      onAnswer(given);
      return response.end(JSON.stringify(await task));
    }
    const [prefix = "", folder = ""] = places.find(([each]) => path.startsWith(each)) ?? [];
    const file = join(folder, path.slice(prefix.length));
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found?.isFile()) return response.writeHead(404).end();
    const type = types[extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { "Content-Type": type, "Content-Length": found.size });
    return request.method === "HEAD" ? response.end() : send(response, file);
  }

  const server = createServer((request, response) => void answer(request, response));
  const folder = profile ?? makeProfile();
  const ready = new Promise((resolve) => (onAnswer = resolve));
  await once(server.listen(port, "localhost"), "listening");
  const options = [
    "headless=new",
    "no-sandbox",
    "disable-gpu",
    "no-first-run",
    "disable-background-networking",
  ];
  const own = ["disable-component-update", `user-data-dir=${folder}`, `js-flags=${jsFlags}`];
  const args = [...options, ...own].map((option) => `--${option}`);
  const browser = spawn(chromiumPath, [...args, `http://localhost:${port}/tab`], { stdio: "ignore" });
  const exited = once(browser, "exit");
  const ended = exited.then(() => Promise.reject(new Error("Chromium has ended")));
  try {
    await Promise.race([ready, ended]);
    await sleep(3000); // a browser is busy while it starts
    return await use({
      async ask(name, argument = {}) {
        const answered = new Promise((resolve) => (onAnswer = resolve));
        giveTask({ name, argument });
        const { result, error } = await Promise.race([answered, ended]);
        if (error !== undefined) throw new Error(`${name}: ${error}`);
        return result;
      },
      sentBytes: () => weightBytes,
    });
  } finally {
    ended.catch(() => {});
    browser.kill();
    await exited;
    server.closeAllConnections();
    server.close();
    if (profile === undefined) await removeProfile(folder);
  }
}
