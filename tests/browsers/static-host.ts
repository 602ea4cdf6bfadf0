// A static host on its own port, which sends the headers that a test wants.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import sirv from "sirv";

type Headers = Readonly<Record<string, string>>;
export const isolation: Headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};
/** Those of a CDN: pages of every origin may read its files. */
export const shared: Headers = {
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
};

/**
 * Serves each folder of `folders` below the path that it is listed by, and `html` at every other address that could be a
 * page's. `page` and `files` are the headers of `html` and of the folders; both are `headers` at first.
 */
export async function serve(folders: Readonly<Record<string, string>>, headers: Headers = {}) {
  const host = {
    page: headers,
    files: headers,
    html: "<!doctype html><title>page</title>",
    /** The paths of all requests. */
    requests: [] as string[],
  };
  const send = (response: ServerResponse, all: Headers) => {
    for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
  };
  // Read again for each request, because tests are rebuilt while a host runs.
  const options = { dev: true, setHeaders: (response: ServerResponse) => send(response, host.files) };
  const mounts = Object.entries(folders).map(([path, folder]) => [path, sirv(folder, options)] as const);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    host.requests.push(pathname);
    const sendPage = () => {
      if (!["", ".html"].includes(extname(pathname))) return void response.writeHead(404).end();
      send(response, { "Content-Type": "text/html", ...host.page });
      response.end(host.html);
    };
    const [path = "/", find] = mounts.find(([each]) => pathname.startsWith(each)) ?? [];
    if (!find) return sendPage();
    request.url = (request.url ?? "/").slice(path.length - 1);
    find(request, response, sendPage);
  });
  await new Promise<void>((listening) => server.listen(0, "localhost", listening));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  return Object.assign(host, { port, origin: `http://localhost:${port}`, close });
}
export type StaticHost = Awaited<ReturnType<typeof serve>>;
