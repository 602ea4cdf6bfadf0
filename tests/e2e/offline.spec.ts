// The page's service worker: without network, on a host without headers, while the host moves to a new release, and late.
import { createHash } from "node:crypto";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test, type BrowserContext, type Page } from "@playwright/test";
import { FaultyHost } from "./faulty-host.js";
import { root } from "./model.js";
import { expectReady, generate, linkTo, lookInside, textOf } from "./page.js";

/** The page below a sub-path, as many hosts serve it. */
const below = "some/where/";

let context: BrowserContext;
let page: Page;
test.beforeEach(async ({ browser }) => {
  context = await browser.newContext({ serviceWorkers: "allow" });
  page = await context.newPage();
});
test.afterEach(() => context.close());

/** A host that sends nothing but the files. */
async function plainHost(): Promise<FaultyHost> {
  const host = new FaultyHost({ below, isIsolated: false, isCached: true });
  await host.start();
  return host;
}

const expectKept = () => expect(page.locator("#offline")).toBeVisible();

// real-hosts.spec.ts does the same on hosts without headers.
test("after one visit to a host with headers, the page works without network, and no large file was fetched twice", async () => {
  const host = new FaultyHost({ below, isCached: true });
  await host.start();
  await page.goto(host.address);
  await expectReady(page);
  await expectKept();
  await expect(page.locator("#update")).toBeHidden(); // there is no other release
  const large = host.asked.filter((path) => /\.(wasm|\d\d\d)$/.test(path));
  expect(large.filter((path, place) => large.indexOf(path) !== place)).toEqual([]);
  expect(large.filter((path) => path.endsWith(".wasm")).length).toBe(4); // of every build
  await host.stop();

  await page.goto("about:blank");
  for (const address of ["", "index.html?threads=2"]) {
    await page.goto(`${host.address}${address}`);
    await expectReady(page);
    await expect(page.locator("#engine")).toContainText("threads-relaxed");
  }
  expect((await generate(page)).length).toBeGreaterThan(60);
  await lookInside(page);
});

test("a new release waits for the user, shares no file with the old one, and follows a broken one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-release-"));
  try {
    cpSync(resolve(root, "web/dist"), folder, { recursive: true });
    const host = new FaultyHost({ folder, below, isIsolated: false, isCached: true });
    await host.start();
    await page.goto(host.address);
    await expectReady(page);
    await expectKept();

    release(folder, "Half a version");
    appendFileSync(join(folder, "index.html"), damage);
    await page.reload();
    await expectReady(page);

    release(folder, "Version two");
    host.asked = [];
    await page.reload();
    await expectReady(page);
    await expect(page.locator("h1")).toContainText("GPT-2");
    const update = page.locator("#update");
    await expect(update).toBeVisible();
    expect(host.asked.filter((path) => path.startsWith("models/"))).toEqual([]); // the same bytes
    const other = await context.newPage();
    await other.goto(host.address);
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

test("a link to a text survives the reload that enables threads, and is followed once", async () => {
  const host = await plainHost();
  const passage = { prompt: "The sea was", options: { maxNewTokens: 5, seed: 1 }, hash: "0".repeat(64) };
  await page.goto(host.address + linkTo(passage));
  await expect(page.locator("#finish")).toContainText("This is not the linked text");
  await expect(page.locator("#engine")).toContainText("threads-relaxed"); // it was reloaded
  await expect(page.locator("#editor .cm-content")).toHaveText(/^The sea was.+/);
  await page.locator("#editor .cm-content").press("x");
  const text = await textOf(page);
  await page.reload();
  await expectReady(page);
  await expect(page.locator("#engine")).toContainText("threads-relaxed");
  expect(await textOf(page)).toBe(text);
  await expect(page.locator("#finish")).toHaveText("");
  await host.stop();
});

test("without service workers the page runs on one thread and says so", async ({ browser }) => {
  const host = await plainHost();
  const page = await browser.newPage({ serviceWorkers: "block" });
  await page.goto(host.address);
  await expect(page.locator("#engine")).toContainText("simd-relaxed, 1 thread");
  await expect(page.locator("#notice")).toContainText("cross-origin isolated");
  await page.close();
  await host.stop();
});

test("the page waits for a service worker whose script never arrives; Cancel ends the wait, and the next one ends by itself", async () => {
  const host = new FaultyHost();
  await host.start();
  const asked = new Promise<void>((resolve) => host.answer(/^sw\.js$/, () => resolve()));
  const ofModel = () => [...host.asked, ...host.open].filter((name) => name.startsWith("models/demo/"));
  await page.clock.install();
  await page.goto(`${host.address}index.html`);
  await asked;
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("alert")).toContainText("Loading was cancelled.");
  await page.getByRole("button", { name: "Try again" }).click();
  expect(ofModel()).toEqual([]);
  await page.clock.fastForward(10_000);
  await expectReady(page);
  await host.stop();
});

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
