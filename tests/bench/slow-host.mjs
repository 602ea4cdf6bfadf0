// A static host of a given bandwidth, in a process of its own: `node slow-host.mjs BYTES_PER_SECOND PATH=FOLDER…`. What all
// connections together send is held back, so that it is as fast as a line would be. Its page /tab runs in-tab.mjs: each line of
// standard input is a task for it. Writes lines: its port, then, for each task, what came of it and the bytes that were sent.
import { once } from "node:events";
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { createInterface } from "node:readline";

const [rate, ...places] = process.argv.slice(2);
const folders = places.map((place) => {
  const [prefix = "", folder = ""] = place.split("=");
  return { prefix, folder };
});
const types = {
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
  ".json": "application/json",
};
const page = '<title>-</title><script type="module" src="/bench/in-tab.mjs"></script>';

/** Time at which what has been sent so far would have left the line. */
let lineFree = 0;
/** A line does not send a second's bytes at once. */
const burstMs = 5;
/** Of weights. */
let sentBytes = 0;
const tasks = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function send(response, file) {
  for await (const chunk of createReadStream(file, { highWaterMark: 64 * 1024 })) {
    const now = performance.now();
    lineFree = Math.max(lineFree, now - burstMs) + (chunk.length / Number(rate)) * 1000;
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
  if (path === "/task") {
    const { value } = await tasks.next();
    sentBytes = 0;
    return response.end(value);
  }
  if (path === "/done") {
    const body = (await request.toArray()).join("");
    console.log(JSON.stringify({ ...JSON.parse(body), sentBytes }));
    return response.end();
  }
  const place = folders.find(({ prefix }) => path.startsWith(prefix));
  const file = place && join(place.folder, path.slice(place.prefix.length));
  const found = file ? statSync(file, { throwIfNoEntry: false }) : undefined;
  if (!file || !found?.isFile()) return response.writeHead(404).end();
  response.writeHead(200, {
    "Content-Type": types[extname(file)] ?? "application/octet-stream",
    "Content-Length": found.size,
  });
  return request.method === "HEAD" ? response.end() : send(response, file);
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, "localhost", () =>
  console.log(/** @type {import("node:net").AddressInfo} */ (server.address()).port),
);
