// `gpt2-wasm serve FOLDER`: a static host for this machine, with the headers that threads need.
import { existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import sirv from "sirv";
import type { Command } from "./command.js";
import { print, UsageError } from "./messages.js";

/** Only programs of this machine reach it. */
const host = "127.0.0.1";
const usualPort = "8080";

/** Isolation, which threads need, also for workers and frames; a page of another origin may read the files, too. */
const headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "cross-origin",
};

/** Names that begin with a dot are not served: they are settings, and may hold secrets. */
function isHidden(address: string): boolean {
  try {
    return /(^|[/\\])\./.test(decodeURIComponent(new URL(address, "http://host").pathname));
  } catch {
    return true; // it is not a valid address
  }
}

/** Serves `folder` until `signal` is aborted. `onStart` gets its address. */
export async function serveFolder(
  folder: string,
  port: number,
  onStart: (address: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  // Each request reads the folder: a conversion may add to it.
  const serveFile = sirv(folder, {
    dev: true,
    etag: true,
    setHeaders(response, path) {
      // Without a type, a browser would guess.
      if (/\.(safetensors(\.\d+)?|gguf)$/.test(path))
        response.setHeader("Content-Type", "application/octet-stream");
    },
  });
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (!["GET", "HEAD"].includes(request.method ?? "")) return void response.writeHead(405).end();
    if (isHidden(request.url ?? "/")) return void response.writeHead(404).end();
    serveFile(request, response, () => void response.writeHead(404).end());
  });
  const ended = new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.on("close", resolve);
  });
  signal.addEventListener("abort", () => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(port, host, () => {
    onStart(`http://localhost:${(server.address() as AddressInfo).port}/`).catch((error: unknown) =>
      server.emit("error", error),
    );
  });
  await ended;
}

export const serve: Command = {
  name: "serve",
  summary: "Serve a folder to browsers on this machine, with the headers for threads. Ctrl + C ends it.",
  operands: [["[FOLDER]", "Folder to serve [.]"]],
  options: { port: { value: "NUMBER", help: `Port; 0 chooses a free one [${usualPort}]` } },
  async run([folder = "."], values, signal) {
    const port = values.text("port") ?? usualPort;
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
      throw new UsageError(`--port is "${port}", expected a number from 0 to 65535`);
    const path = resolve(folder);
    if (!existsSync(path) || !statSync(path).isDirectory())
      throw new UsageError(`there is no folder ${path}`);
    await serveFolder(path, Number(port), (address) => print(`${path} is at ${address}\n`), signal);
  },
};
