// A static host of a given bandwidth, in a process of its own: `node slow-host.mjs BYTES_PER_SECOND PATH=FOLDER…` prints
// its port. What all connections together send is held back, so that it is as fast as a line would be.
import { once } from "node:events";
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const [rate, ...places] = process.argv.slice(2);
const folders = places.map((place) => {
  const [prefix = "", folder = ""] = place.split("=");
  return { prefix, folder };
});
const types = { ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };

/** Time at which what has been sent so far would have left the line. */
let lineFree = 0;
/** A line does not send a second's bytes at once. */
const burstMs = 5;

async function send(response, file) {
  for await (const chunk of createReadStream(file, { highWaterMark: 64 * 1024 })) {
    const now = performance.now();
    lineFree = Math.max(lineFree, now - burstMs) + (chunk.length / Number(rate)) * 1000;
    if (lineFree > now) await new Promise((resolve) => setTimeout(resolve, lineFree - now));
    if (response.destroyed) return;
    if (!response.write(chunk)) await once(response, "drain").catch(() => {});
  }
  response.end();
}

const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url ?? "", "http://host").pathname));
  const place = folders.find(({ prefix }) => path.startsWith(prefix));
  response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
  response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
  response.setHeader("Cache-Control", "no-store");
  if (path === "/blank") return response.setHeader("Content-Type", "text/html").end("<title>-</title>");
  const file = place && join(place.folder, path.slice(place.prefix.length));
  const size = file && statSync(file, { throwIfNoEntry: false })?.size;
  if (file === undefined || size === undefined) return response.writeHead(404).end();
  response.writeHead(200, {
    "Content-Type": types[extname(file)] ?? "application/octet-stream",
    "Content-Length": size,
  });
  return void send(response, file);
});
server.listen(0, "localhost", () =>
  console.log(/** @type {import("node:net").AddressInfo} */ (server.address()).port),
);
