// The built files on hosts that send nothing but the files.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import sirv from "sirv";

const dist = resolve(import.meta.dirname, "../../web/dist");
let server: Server;
let origin: string;

test.beforeAll(async () => {
  // Below a sub-path, as on many hosts.
  const serve = sirv(dist);
  server = createServer((request, response) => {
    if (!request.url?.startsWith("/some/where/")) return void response.writeHead(404).end();
    request.url = request.url.slice("/some/where".length);
    serve(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "localhost", listening));
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
});

test.afterAll(() => void server.close());

test("a service worker brings threads to a host without headers, below a sub-path", async ({ page }) => {
  await page.goto(`${origin}/some/where/`);
  await expect(page.locator("#engine")).toContainText("threads-relaxed", { timeout: 30_000 });
  await expect(page.locator("#notice")).toBeHidden();
  await page.getByRole("button", { name: "Generate" }).click();
  await expect(page.locator("#speed")).toContainText("tokens/s");
});

test("without service workers it runs on one thread and says so", async ({ browser }) => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  await page.goto(`${origin}/some/where/`);
  await expect(page.locator("#engine")).toContainText("simd-relaxed, 1 thread", { timeout: 30_000 });
  await expect(page.locator("#notice")).toContainText("cross-origin isolated");
  await context.close();
});
