// The panel of engine and device: what runs here, and how fast.
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible } from "./axe.js";
import { expectReady, generate, open, openSection } from "./page.js";

const row = (page: Page, name: string) =>
  page
    .locator("#device-panel dl > div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("dd");

async function openPanel(page: Page): Promise<void> {
  await openSection(page, "device");
  await expect(row(page, "Storage")).not.toHaveText("–");
}

test("the panel shows what runs here, and the speed of the written text", async ({ page }) => {
  await open(page);
  await test.step("its script is fetched only when it is opened, and again if that failed", async () => {
    await page.route("**/assets/panel-*.js", (route) => route.abort());
    await openSection(page, "device");
    await expect(page.locator("#device-panel")).toContainText("This part of the page could not be loaded");
    await page.unroute("**/assets/panel-*.js");
    await page.locator("#device summary").first().click();
    await openPanel(page);
  });
  await expect(row(page, "Engine")).toHaveText(/^threads\S*, release \d+\.\d+\.\d+-[0-9a-f]{8}$/);
  await expect(row(page, "Threads")).toHaveText(/^\d+ of \d+ cores: /);
  await expect(row(page, "Memory")).toHaveText(/^\d+ MB: 8.7 MB of weights, /);
  await expect(row(page, "Network")).toHaveText(
    /^None: nothing that you write leaves this device\. 8\.2 MB came from localhost:\d+ for this model\.$/,
  );
  await generate(page);
  await expect(row(page, "Speed")).toHaveText(/^[\d.]+ tokens\/s$/);
  await expectAccessible(page);
});

test("the panel names a number of threads that the address sets", async ({ page }) => {
  await page.goto("./?threads=1");
  await expectReady(page);
  await openPanel(page);
  await expect(row(page, "Threads")).toHaveText(/^1 of \d+ cores, as set in the address of this page\.$/);
});
