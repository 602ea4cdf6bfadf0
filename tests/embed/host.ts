// A host of pages and of the package that sends what a test wants.
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import sirv from "sirv";
import { root } from "./app.js";

type Headers = Record<string, string>;
export const isolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** A host: the package at /gpt2/, the demo model at /models/, and an HTML page at every other address. */
export class Host {
  /** The headers of pages, and of files. */
  page: Headers = {};
  files: Headers = {};
  /** Contents that replace those of a file, by the end of its address. */
  replaced: Record<string, string> = {};
  html = "<!doctype html><title>page</title>";
  readonly requests: string[] = [];
  private readonly server: Server;

  private readonly packageFolder: string;

  constructor(packageFolder: string) {
    this.packageFolder = packageFolder;
    const folders = { "/gpt2/": sirv(packageFolder), "/models/": sirv(join(root, "web/models")) };
    this.server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://host");
      this.requests.push(pathname);
      const replaced = Object.entries(this.replaced).find(([end]) => pathname.endsWith(end))?.[1];
      const folder = Object.entries(folders).find(([path]) => pathname.startsWith(path));
      const headers = folder ? this.files : this.page;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (replaced !== undefined) {
        if (pathname.endsWith(".js")) response.setHeader("Content-Type", "text/javascript");
        return void response.end(replaced);
      }
      if (!folder) return void response.setHeader("Content-Type", "text/html").end(this.html);
      // sirv's content type would override ours.
      const writeHead = response.writeHead.bind(response);
      response.writeHead = ((status: number, given?: object) =>
        writeHead(status, { ...given, ...headers })) as typeof response.writeHead;
      request.url = (request.url ?? "").slice(folder[0].length - 1);
      folder[1](request, response, () => void response.writeHead(404).end());
    });
  }
  /** A file of the package. */
  read(name: string): string {
    return readFileSync(join(this.packageFolder, name), "utf8");
  }

  async start(): Promise<this> {
    await new Promise<void>((listening) => this.server.listen(0, "localhost", listening));
    return this;
  }
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }
  get origin(): string {
    return `http://localhost:${this.port}`;
  }
  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
