// The part of the page's chooser that lists the models stored on this device.
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible } from "./axe.js";
import { expectReady } from "./page.js";

/** The demo at another address. At its usual address the service worker stores it, and the store does not. */
const other = "./?model=models/demo";
const row = (page: Page) => page.locator("#stored-list li");
const openChooser = (page: Page) => page.locator("#chooser summary").click();

test("a stored model can be listed with its size, kept, loaded and removed", async ({ page }) => {
  await page.goto("./");
  await expectReady(page);
  await openChooser(page);
  await expect(page.locator("#stored")).toBeHidden(); // the page's own demo is not listed
  await page.goto(other);
  await expectReady(page);
  await openChooser(page);
  await expect(row(page)).toHaveCount(1);
  await expect(row(page)).toContainText(/demo\s*8\.3 MB/);

  const keep = page.getByRole("button", { name: "Keep demo" });
  await expect(keep).toHaveAttribute("aria-pressed", "false");
  await keep.focus();
  await page.keyboard.press("Enter");
  await expect(page.locator("#stored-status")).toContainText(/^demo (stays until you remove it|is kept)/);
  await expect(keep).toHaveAttribute("aria-pressed", "true");
  await expect(keep).toBeFocused();
  await page.setViewportSize({ width: 320, height: 800 });
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);

  await page.goto("./?model=nowhere"); // this address has no model
  await expect(page.getByRole("alert")).toBeVisible();
  await openChooser(page);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.getByRole("button", { name: "Load demo" }).click();
  await expectReady(page);
  expect(requests.filter((url) => url.includes("safetensors"))).toEqual([]);

  await openChooser(page);
  await page.getByRole("button", { name: "Remove demo" }).click();
  await expect(page.locator("#stored-status")).toHaveText("demo is removed from this device.");
  await expect(row(page)).toHaveCount(0);
  await expect(page.locator("#chooser summary")).toBeFocused();
});

test("a model that cannot be stored still writes, and the page says so", async ({ page, context }) => {
  await page.goto("./?model=nowhere");
  const devTools = await context.newCDPSession(page);
  const { origin } = new URL(page.url());
  await devTools.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 3_000_000 });
  await page.goto(other);
  await expectReady(page);
  await expect(page.locator("#notice")).toContainText("This model is not stored for the next visit: ");
});
