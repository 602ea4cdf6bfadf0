// The page without network, after one visit, and while its host moves to a new release.
import { createHash } from "node:crypto";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test, type BrowserContext, type Page } from "@playwright/test";
import sirv from "sirv";
import { root } from "./model.js";
import { expectReady, generate, lookInside } from "./page.js";

test.describe.configure({ timeout: 120_000 });

/** A static host below a sub-path, which can go down and records its requests. */
class Host {
  /** The path of each request that was answered with bytes. */
  asked: string[] = [];
  private server: Server | undefined;
  private port = 0;
  private readonly folder: string;
  private readonly isIsolated: boolean;

  constructor(folder: string, isIsolated: boolean) {
    this.folder = folder;
    this.isIsolated = isIsolated;
  }

  get page(): string {
    return `http://localhost:${this.port}/some/where/`;
  }
  async start(): Promise<void> {
    const files = sirv(this.folder, { dev: true, etag: true });
    this.server = createServer((request, response) => {
      if (!request.url?.startsWith("/some/where/")) return void response.writeHead(404).end();
      request.url = request.url.slice("/some/where".length);
      const path = request.url.slice(1).replace(/\?.*/, "");
      response.on("finish", () => response.statusCode === 200 && this.asked.push(path));
      if (this.isIsolated) {
        response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
        response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
      }
      files(request, response, () => void response.writeHead(404).end());
    });
    await new Promise<void>((listening) => this.server?.listen(this.port, "localhost", listening));
    this.port = (this.server.address() as AddressInfo).port;
  }
  async stop(): Promise<void> {
    const closed = new Promise((done) => this.server?.close(done));
    this.server?.closeAllConnections();
    await closed;
  }
}

let context: BrowserContext;
let page: Page;
test.beforeEach(async ({ browser }) => {
  context = await browser.newContext({ serviceWorkers: "allow" });
  page = await context.newPage();
});
test.afterEach(() => context.close());

const expectKept = () => expect(page.locator("#offline")).toBeVisible({ timeout: 30_000 });

// real-hosts.spec.ts does the same on hosts without headers.
test("after one visit to a host with headers, the page works without network, and no large file was fetched twice", async () => {
  const host = new Host(resolve(root, "web/dist"), true);
  await host.start();
  await page.goto(host.page);
  await expectReady(page);
  await expectKept();
  await expect(page.locator("#update")).toBeHidden(); // there is no other release
  const large = host.asked.filter((path) => /\.(wasm|\d\d\d)$/.test(path));
  expect(large.filter((path, place) => large.indexOf(path) !== place)).toEqual([]);
  expect(large.filter((path) => path.endsWith(".wasm")).length).toBe(4); // of every build
  await host.stop();

  await page.goto("about:blank");
  for (const address of ["", "index.html?threads=2"]) {
    await page.goto(`${host.page}${address}`);
    await expectReady(page);
    await expect(page.locator("#engine")).toContainText("threads-relaxed");
  }
  expect((await generate(page)).length).toBeGreaterThan(60);
  await lookInside(page);
});

test("a new release waits for the user, shares no file with the old one, and is never activated if broken", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-release-"));
  try {
    cpSync(resolve(root, "web/dist"), folder, { recursive: true });
    const host = new Host(folder, false);
    await host.start();
    await page.goto(host.page);
    await expectReady(page);
    await expectKept();

    release(folder, "Half a version");
    appendFileSync(join(folder, "index.html"), damage);
    await page.reload();
    await expectReady(page);
    expect(await settledUpdate(page)).toBe("redundant");

    release(folder, "Version two");
    host.asked = [];
    await page.reload();
    await expectReady(page);
    await expect(page.locator("h1")).toContainText("GPT-2");
    const update = page.locator("#update");
    await expect(update).toBeVisible({ timeout: 30_000 });
    expect(host.asked.filter((path) => path.startsWith("models/"))).toEqual([]); // the same bytes
    const other = await context.newPage();
    await other.goto(host.page);
    await expect(other.locator("h1")).toContainText("GPT-2"); // still the old one
    await expectReady(other);
    await expect(other.locator("#update")).toBeVisible();

    await update.getByRole("button", { name: "Reload" }).click();
    await expect(page.locator("h1")).toContainText("Version two");
    await expectReady(page);
    await expect(update).toBeHidden();
    expect((await generate(other)).length).toBeGreaterThan(60);
    await other.getByRole("button", { name: "Reload" }).click();
    await expect(other.locator("h1")).toContainText("Version two");
    await host.stop();
    await page.reload();
    await expect(page.locator("h1")).toContainText("Version two");
    await expectReady(page);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** The final state of the release that the page's service worker finds on the host. */
function settledUpdate(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    const found = new Promise<ServiceWorker | null>((resolve) =>
      registration?.addEventListener("updatefound", () => resolve(registration.installing)),
    );
    const underWay = registration?.installing;
    await registration?.update();
    const worker = underWay ?? (await found);
    while (worker?.state === "installing") {
      await new Promise((changed) => worker.addEventListener("statechange", changed, { once: true }));
    }
    return worker?.state ?? "none";
  });
}

const damage = "<!-- not what the release lists -->";

/** Puts another release into `folder`: another page, and the service worker that lists it. */
function release(folder: string, title: string): void {
  const hash = (text: string) => createHash("sha256").update(text).digest("hex");
  const html = readFileSync(join(folder, "index.html"), "utf8").replace(damage, "");
  const next = html.replace(/<h1>.*<\/h1>/, `<h1>${title}</h1>`);
  const script = readFileSync(join(folder, "sw.js"), "utf8").replace(hash(html), hash(next));
  writeFileSync(join(folder, "index.html"), next);
  writeFileSync(join(folder, "sw.js"), script);
}
