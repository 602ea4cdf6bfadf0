// `gpt2-wasm serve FOLDER`: a static host for this machine, with the headers that threads need.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import sirv from "sirv";
import type { Command } from "./command.js";
import { print, UsageError } from "./messages.js";
import { folderNamed } from "./model-argument.js";

/** Only programs of this machine reach it. */
const host = "127.0.0.1";
const usualPort = "8080";

/** Isolation, which threads need, also for workers and frames; a page of another origin may read the files, too. */
const headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "cross-origin",
};

/** Gives weights a type: without one, a browser would guess. */
function nameType(response: ServerResponse, path: string): void {
  if (/\.(safetensors(\.\d+)?|gguf)$/.test(path))
    response.setHeader("Content-Type", "application/octet-stream");
}

/** Names that begin with a dot are not served: they are settings, and may hold secrets. */
function isHidden(address: string): boolean {
  try {
    return /(^|[/\\])\./.test(decodeURIComponent(new URL(address, "http://host").pathname));
  } catch {
    return true; // it is not a valid address
  }
}

export const serve: Command = {
  name: "serve",
  summary: "Serve a folder to browsers on this machine, with the headers for threads. Ctrl + C ends it.",
  operands: [["[FOLDER]", "Folder to serve [.]"]],
  options: { port: { value: "NUMBER", help: `Port; 0 chooses a free one [${usualPort}]` } },
  async run([name = "."], values, signal) {
    const wanted = values.text("port") ?? usualPort;
    if (!/^\d{1,5}$/.test(wanted) || Number(wanted) > 65535)
      throw new UsageError(`--port is "${wanted}", expected a number from 0 to 65535`);
    const folder = folderNamed(name);
    // Each request reads the folder: a conversion may add to it.
    const serveFile = sirv(folder, { dev: true, etag: true, setHeaders: nameType });
    const server = createServer((request, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (!["GET", "HEAD"].includes(request.method ?? "")) return void response.writeHead(405).end();
      if (isHidden(request.url ?? "/")) return void response.writeHead(404).end();
      serveFile(request, response, () => void response.writeHead(404).end());
    });
    await once(server.listen(Number(wanted), host), "listening");
    const ended = once(server, "close");
    signal.addEventListener("abort", () => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    await print(`${folder} is at http://localhost:${port}/\n`);
    await ended;
  },
};
