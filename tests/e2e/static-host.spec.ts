// The page on a host that sends nothing but the files, below a sub-path.
import { deflateRawSync } from "node:zlib";
import { expect, test, type Browser, type Page } from "@playwright/test";
import { FaultyHost } from "./faulty-host.js";
import { expectReady, textOf } from "./page.js";

const host = new FaultyHost({ below: "some/where/", isIsolated: false, isCached: true });
test.beforeAll(() => host.start());
test.afterAll(() => host.stop());

/** A page in a context of its own, with service workers or without. */
const newPage = async (browser: Browser, serviceWorkers: "allow" | "block"): Promise<Page> =>
  (await browser.newContext({ serviceWorkers })).newPage();

test("a link to a text survives the reload that enables threads, and is followed once", async ({
  browser,
}) => {
  const page = await newPage(browser, "allow");
  const passage = { prompt: "The sea was", options: { maxNewTokens: 5, seed: 1 }, hash: "0".repeat(64) };
  const link = deflateRawSync(JSON.stringify(passage)).toString("base64url");
  await page.goto(`${host.address}#text=${link}`);
  await expect(page.locator("#finish")).toContainText("This is not the linked text", { timeout: 40_000 });
  await expect(page.locator("#engine")).toContainText("threads-relaxed"); // it was reloaded
  await expect(page.locator("#editor .cm-content")).toHaveText(/^The sea was.+/);
  await page.locator("#editor .cm-content").press("x");
  const text = await textOf(page);
  await page.reload();
  await expectReady(page);
  await expect(page.locator("#engine")).toContainText("threads-relaxed");
  expect(await textOf(page)).toBe(text);
  await expect(page.locator("#finish")).toHaveText("");
  await page.context().close();
});

test("without service workers the page runs on one thread and says so", async ({ browser }) => {
  const page = await newPage(browser, "block");
  await page.goto(host.address);
  await expect(page.locator("#engine")).toContainText("simd-relaxed, 1 thread", { timeout: 30_000 });
  await expect(page.locator("#notice")).toContainText("cross-origin isolated");
  await page.context().close();
});
