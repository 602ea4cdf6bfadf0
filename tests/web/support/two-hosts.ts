// Two hosts that record their requests: a model's own, which can redirect, and another.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedRequest {
  host: "own" | "other";
  path: string;
  headers: IncomingHttpHeaders;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export class TwoHosts {
  readonly asked: ReceivedRequest[] = [];
  /** The answers by path, in place of a file; "*" means every path. */
  readonly answers: Record<string, Answer> = {};
  private readonly servers = (["own", "other"] as const).map((host) =>
    createServer((request, response) => {
      const { url: path = "/", headers } = request;
      // Preflight requests are always allowed.
      response.setHeader("Access-Control-Allow-Origin", headers.origin ?? "*");
      response.setHeader("Access-Control-Allow-Credentials", "true");
      const wanted = headers["access-control-request-headers"];
      if (wanted !== undefined) response.setHeader("Access-Control-Allow-Headers", wanted);
      if (request.method === "OPTIONS") return void response.end();
      this.asked.push({ host, path, headers });
      const answer = this.answers[path] ?? (host === "own" ? this.answers["*"] : undefined);
      if (answer) return answer(request, response);
      response.end(`${host}${path}`);
    }),
  );

  async start(): Promise<this> {
    for (const server of this.servers)
      await new Promise<void>((listening) => server.listen(0, "localhost", listening));
    return this;
  }
  stop(): void {
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
    }
  }
  private originOf(place: number): string {
    return `http://localhost:${(this.servers[place]?.address() as AddressInfo).port}`;
  }
  get own(): string {
    return this.originOf(0);
  }
  get other(): string {
    return this.originOf(1);
  }
}

/** Sends the client to `location`. */
export const redirectTo =
  (location: string): Answer =>
  (_, response) =>
    void response.writeHead(302, { Location: location }).end();
