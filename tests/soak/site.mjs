// The built page with the headers that threads need, a tiny model, and Chromium on them.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import sirv from "sirv";
import { root } from "../../engine/toolchain/build.mjs";

/**
 * Serves web/dist; `folders` maps further paths to folders. Returns the address of an empty page.
 * @param {Record<string, string>} folders
 */
export async function serve(folders) {
  const handlers = Object.entries({
    "/soak": join(root, "tests/soak"),
    ...folders,
    "": join(root, "web/dist"),
  }).map(([path, folder]) => ({ path, handler: sirv(folder, { dev: true }) }));
  const server = createServer((request, response) => {
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
    const { url = "/" } = request;
    if (url === "/blank") {
      response.setHeader("Content-Type", "text/html").end("<title>-</title>");
      return;
    }
    const found = handlers.find(({ path }) => url.startsWith(path)); // the last one takes all
    request.url = url.slice(found?.path.length);
    found?.handler(request, response, () => void response.writeHead(404).end());
  });
  await new Promise((listening) => server.listen(0, "localhost", () => listening(undefined)));
  return {
    page: `http://localhost:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}/blank`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export function openBrowser() {
  const debianChromium = "/usr/bin/chromium";
  return chromium.launch({
    ...(existsSync(debianChromium) ? { executablePath: debianChromium } : {}),
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--js-flags=--expose-gc"],
  });
}
