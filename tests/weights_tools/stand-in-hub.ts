// What the Hugging Face hub answers, as far as `fetch` asks: small files itself, large ones by a signed address at another
// host, which expires.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const listen = (server: Server) => new Promise<void>((listening) => server.listen(0, "localhost", listening));
const originOf = (server: Server) => `http://localhost:${(server.address() as AddressInfo).port}`;

export const commit = "607a30d783dfa663caf39e06633721c8d4cfcd7e";

export class StandInHub {
  /** By name. Those that end in .safetensors are large. */
  files: Record<string, Buffer> = {};
  /** Answers a request for a file, at the hub or where that redirects to, and returns true; or leaves it to the stand-in. */
  fault: (name: string, response: ServerResponse) => boolean = () => false;
  /** What every request to the hub gets, where it is not 200. */
  status = 200;
  /** Of each request: which host, path, Range and Authorization. */
  readonly asked: { host: "hub" | "store"; path: string; range?: string; token?: string }[] = [];
  /** Signed addresses that were handed out are good for so many requests each. */
  usesOfAddress = 1;
  private readonly uses = new Map<string, number>();
  private readonly hub = createServer((...both) => this.answer(...both));
  private readonly store = createServer((...both) => this.answerStore(...both));

  async start(): Promise<string> {
    await Promise.all([listen(this.hub), listen(this.store)]);
    return originOf(this.hub);
  }
  stop(): void {
    for (const server of [this.hub, this.store]) {
      server.closeAllConnections();
      server.close();
    }
  }

  private note(host: "hub" | "store", request: IncomingMessage): URL {
    const { range, authorization: token } = request.headers;
    const url = new URL(request.url ?? "/", "http://host");
    this.asked.push({ host, path: url.pathname, ...(range && { range }), ...(token && { token }) });
    return url;
  }

  private answer: Handler = (request, response) => {
    const { pathname } = this.note("hub", request);
    const json = (value: unknown) => {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(value));
    };
    if (this.status !== 200) {
      response.statusCode = this.status;
      return json({ error: "as the test wants" });
    }
    if (/^\/api\/models\/.+\/revision\//.test(pathname)) {
      const [, id, revision] = /^\/api\/models\/(.+)\/revision\/(.+)$/.exec(pathname) ?? [];
      if (revision !== "main" && revision !== "v1") {
        response.statusCode = 404;
        return json({ error: "Invalid rev id" });
      }
      return json({
        _id: "1",
        id,
        sha: commit,
        private: false,
        gated: false,
        lastModified: "2026-11-22T00:00:00Z",
      });
    }
    if (pathname.includes(`/tree/${commit}`)) {
      return json(
        Object.entries(this.files).map(([path, bytes]) => {
          const git = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
          const sha256 = createHash("sha256").update(bytes).digest("hex");
          const lfs = { oid: sha256, size: bytes.length, pointerSize: 134 };
          const isLarge = path.endsWith(".safetensors");
          return { type: "file", path, size: bytes.length, oid: git, ...(isLarge && { lfs }) };
        }),
      );
    }
    const name = /\/resolve\/[0-9a-f]{40}\/(.+)$/.exec(pathname)?.[1] ?? "";
    if (name.endsWith(".safetensors")) {
      const signature = String(this.uses.size);
      this.uses.set(signature, 0);
      const location = `${originOf(this.store)}/${name}?signature=${signature}`;
      return void response.writeHead(302, { Location: location }).end();
    }
    if (!this.fault(name, response)) this.send(name, request, response);
  };

  private answerStore: Handler = (request, response) => {
    const { pathname, searchParams } = this.note("store", request);
    const signature = searchParams.get("signature") ?? "";
    const uses = this.uses.get(signature) ?? Infinity;
    this.uses.set(signature, uses + 1);
    if (uses >= this.usesOfAddress) return void response.writeHead(403).end("Request has expired");
    const name = pathname.slice(1);
    if (!this.fault(name, response)) this.send(name, request, response);
  };

  private send(name: string, request: IncomingMessage, response: ServerResponse): void {
    const bytes = this.files[name];
    if (!bytes) return void response.writeHead(404).end();
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const part = bytes.subarray(from);
    response.writeHead(from > 0 ? 206 : 200, {
      "Content-Length": part.length,
      ...(from > 0 && { "Content-Range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    });
    response.end(part);
  }
}
