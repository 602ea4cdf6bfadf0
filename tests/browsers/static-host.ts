// A static host on its own port, with or without the headers of cross-origin isolation.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import sirv from "sirv";

export interface StaticHost {
  /** The origin, without a slash at the end. */
  origin: string;
  close(): Promise<void>;
}

/**
 * Serves each folder of `folders` below the path that it is listed by, and an empty page at /blank.html. Pages of every
 * origin may read an `open` host, like a CDN.
 */
export async function serve(
  isolated: boolean,
  folders: Readonly<Record<string, string>>,
  { open = false } = {},
): Promise<StaticHost> {
  const setHeaders = (response: { setHeader(name: string, value: string): unknown }) => {
    if (open) {
      response.setHeader("Access-Control-Allow-Origin", "*");
      response.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
    }
    if (!isolated) return;
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
  };
  // Read again for each request, because tests are rebuilt while a host runs.
  const mounts = Object.entries(folders).map(
    ([path, folder]) => [path, sirv(folder, { dev: true, setHeaders })] as const,
  );
  const server = createServer((request, response) => {
    const url = request.url ?? "/";
    if (url === "/blank.html") {
      setHeaders(response);
      response.setHeader("Content-Type", "text/html");
      return void response.end("<!doctype html><title>blank</title>");
    }
    const mount = mounts.find(([path]) => url.startsWith(path));
    if (!mount) return void response.writeHead(404).end();
    request.url = url.slice(mount[0].length - 1);
    mount[1](request, response, () => void response.writeHead(404).end());
  });
  await new Promise<void>((listening) => server.listen(0, "localhost", listening));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
