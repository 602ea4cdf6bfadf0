// `npm run bench:cuts`: what a download costs that is interrupted at ten random places, in bytes that left the host, of
// GPT-2 124M's shapes in q8. The interruptions are broken connections, the same under a bare fetch that does nothing with
// the bytes, and reloads of the tab. Ends with 1 if connections that break cost more than 1.02 x the bytes. Needs `npm
// run build` and gpt2-weights. Options: -- --rate (bytes a second), --cuts, --seed, --model (a folder).
import { createReadStream, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../engine/toolchain/build.mjs";
import { makeModel } from "./models.mjs";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "20e6" },
    cuts: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    model: { type: "string" },
  },
});
const most = 1.02;
const model = values.model ?? makeModel("q8");
const { pieces } = JSON.parse(readFileSync(join(model, "weights.json"), "utf8"));
const modelBytes = pieces.reduce((sum, { size }) => sum + size, 0);

/** Numbers from 0 to 1 that look random, the same for each seed. */
let state = Number(values.seed);
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;

const types = { ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };
/** Bytes of pieces that have left. */
let sent = 0;
/** Is called with them after each portion. */
let onSent = () => {};
const sending = new Set();
let lineFree = 0;

async function send(response, file, from) {
  sending.add(response);
  response.once("close", () => sending.delete(response));
  const isPiece = /safetensors\.\d+$/.test(file);
  for await (const chunk of createReadStream(file, { start: from, highWaterMark: 16 * 1024 })) {
    const now = performance.now();
    lineFree = Math.max(lineFree, now - 5) + (chunk.length / Number(values.rate)) * 1000;
    if (lineFree > now) await new Promise((resolve) => setTimeout(resolve, lineFree - now));
    if (response.destroyed) return;
    await new Promise((resolve) => response.write(chunk, resolve));
    if (response.destroyed) return;
    if (!isPiece) continue;
    sent += chunk.length;
    onSent();
  }
  response.end();
}

const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url ?? "", "http://host").pathname));
  response.setHeader("Cache-Control", "no-store");
  if (path === "/blank") return response.setHeader("Content-Type", "text/html").end("<title>-</title>");
  const file = path.startsWith("/model/") ? join(model, path.slice(7)) : join(root, "web/dist", path);
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return response.writeHead(404).end();
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  response.writeHead(from > 0 ? 206 : 200, {
    "Content-Type": types[extname(file)] ?? "application/octet-stream",
    "Content-Length": size - from,
    ...(from > 0 && { "Content-Range": `bytes ${from}-${size - 1}/${size}` }),
  });
  return void send(response, file, from);
});
await new Promise((resolve) => server.listen(0, "localhost", () => resolve(undefined)));
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());

const { chromium } = await import("@playwright/test");
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});

/** In the page: loads the model, and stores it. */
async function load() {
  const { loadModel } = await import(new URL("gpt2.js", location.href).href);
  const loaded = await loadModel("model/", { variant: "simd" });
  await loaded.dispose();
  return loaded.info.notStored;
}

/** In the page: downloads the same pieces in as many parallel requests, and resumes each by range. */
async function loadBare() {
  const { pieces } = await (await fetch("model/weights.json")).json();
  const readPiece = async ({ path, size }) => {
    for (let at = 0; at < size;) {
      try {
        const reader = (
          await fetch(`model/${path}`, { headers: at > 0 ? { Range: `bytes=${at}-` } : {} })
        ).body?.getReader();
        for (let chunk; (chunk = (await reader?.read())?.value);) at += chunk.length;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    }
  };
  const lane = async () => {
    for (let piece; (piece = pieces.shift());) await readPiece(piece);
  };
  await Promise.all([lane(), lane(), lane()]);
  return null;
}

/** Bytes that left in all, over those of the model, where `cut` interrupts it. */
async function measure(cut) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`http://localhost:${port}/blank`);
  sent = 0;
  const places = Array.from({ length: Number(values.cuts) }, () => random() * modelBytes).sort(
    (a, b) => a - b,
  );
  const notStored = await cut(page, places);
  await context.close();
  if (notStored !== null) throw new Error(`the model was not stored: ${notStored}`);
  return sent / modelBytes;
}

async function breakConnections(page, places, run = load) {
  onSent = () => {
    if (places.length === 0 || sent < places[0]) return;
    places.shift();
    for (const response of sending) response.destroy();
  };
  return page.evaluate(run);
}

async function reload(page, places) {
  for (const place of places) {
    const reached = new Promise((resolve) => {
      onSent = () => {
        if (sent >= place) resolve(undefined);
      };
    });
    page.evaluate(load).catch(() => {}); // whose page is gone
    await reached;
    await page.reload();
  }
  onSent = () => {};
  return page.evaluate(load);
}

async function tell(what, cut) {
  const ratio = await measure(cut);
  const megabytes = (modelBytes / 1e6).toFixed(1);
  console.log(`${values.cuts} ${what} in ${megabytes} MB: ${ratio.toFixed(4)} x the bytes left the host`);
  return ratio;
}

try {
  const broken = await tell("connections that break", breakConnections);
  if (broken > most) process.exitCode = 1;
  await tell("under a bare fetch", (page, places) => breakConnections(page, places, loadBare));
  await tell("reloads", reload);
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
}
