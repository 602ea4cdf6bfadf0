// The answers of the Hugging Face hub that the package needs. Small files come directly, large ones by a signed
// address at another host, which expires. Pages of every origin may read it, but add nothing to a request that needs a
// preflight.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const listen = (server: Server) => new Promise<void>((listening) => server.listen(0, "localhost", listening));
const originOf = (server: Server) => `http://localhost:${(server.address() as AddressInfo).port}`;

/** Headers of an answer that pages may read, as the hub lists them. */
const exposed = [
  "X-Repo-Commit,X-Request-Id,X-Error-Code,X-Error-Message,X-Total-Count,ETag,Link,Accept-Ranges,Content-Range",
  "X-Linked-Size,X-Linked-ETag,X-Xet-Hash",
].join();

/** Weights, whole or in pieces. */
const isLarge = (name: string) => /\.(safetensors(\.\d+)?|gguf|bin)$/.test(name);

export const commit = "607a30d783dfa663caf39e06633721c8d4cfcd7e";

export class StandInHub {
  /** The files by name. Weights count as large. */
  files: Record<string, Buffer> = {};
  /** Answers a request for a file, at the hub or its store, and returns true. Returns false to let the stand-in answer. */
  fault: (name: string, response: ServerResponse) => boolean = () => false;
  /** The status of every answer of the hub; 200 lets it answer normally. */
  status = 200;
  /** The hub's error code, and its `Retry-After`. */
  errorCode: string | undefined;
  retryAfter: string | undefined;
  /** The existing branches, tags and commits. */
  revisions = ["main", "v1", commit];
  /** The commit that answers name. */
  commit = commit;
  /** Host, path, Range and Authorization of each request. */
  readonly asked: { host: "hub" | "store"; path: string; range?: string; token?: string }[] = [];
  /** The number of preflight requests. */
  preflights = 0;
  /** How many requests each signed address is valid for. */
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

  /** Lets pages of every origin read the answer. Refuses a preflight request, and then returns true. */
  private share(request: IncomingMessage, response: ServerResponse): boolean {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Expose-Headers", exposed);
    if (request.method !== "OPTIONS") return false;
    this.preflights += 1;
    response.writeHead(403).end();
    return true;
  }

  private answer: Handler = (request, response) => {
    if (this.share(request, response)) return;
    const { pathname } = this.note("hub", request);
    const json = (value: unknown) => {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(value));
    };
    if (this.status !== 200) {
      response.statusCode = this.status;
      if (this.errorCode) response.setHeader("X-Error-Code", this.errorCode);
      if (this.retryAfter) response.setHeader("Retry-After", this.retryAfter);
      return json({ error: "as the test wants" });
    }
    if (/^\/api\/models\/.+\/revision\//.test(pathname)) {
      const [, id, revision] = /^\/api\/models\/(.+)\/revision\/(.+)$/.exec(pathname) ?? [];
      if (!this.revisions.includes(revision ?? "")) {
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
        siblings: Object.entries(this.files).map(([rfilename, { length }]) => ({ rfilename, size: length })),
      });
    }
    const [, revision = "", name = ""] = /\/resolve\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
    const missing = !this.revisions.includes(decodeURIComponent(revision))
      ? "RevisionNotFound"
      : this.files[name] === undefined && "EntryNotFound";
    if (missing) return void response.writeHead(404, { "X-Error-Code": missing }).end();
    response.setHeader("X-Repo-Commit", this.commit);
    if (isLarge(name)) {
      const signature = String(this.uses.size);
      this.uses.set(signature, 0);
      const location = `${originOf(this.store)}/${name}?signature=${signature}`;
      return void response.writeHead(302, { Location: location }).end();
    }
    if (!this.fault(name, response)) this.send(name, request, response);
  };

  private answerStore: Handler = (request, response) => {
    if (this.share(request, response)) return;
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
      ETag: `"${createHash("md5").update(bytes).digest("hex")}"`,
      "Content-Length": part.length,
      ...(from > 0 && { "Content-Range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    });
    response.end(part);
  }
}
