// The panel of engine and device: what runs here, and how fast it could be.
import AxeBuilder from "@axe-core/playwright";
import { expect, test, type Page } from "@playwright/test";
import { expectReady, generate, open, setOption, startLongText } from "./page.js";

const row = (page: Page, name: string) =>
  page
    .locator("#device dl > div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("dd");

async function openPanel(page: Page): Promise<void> {
  await page.getByText("State of engine and device").click();
  await expect(row(page, "Storage")).not.toHaveText("–", { timeout: 30_000 });
}

test("the panel says what runs here, and measures it beside what memory allows", async ({ page }) => {
  await open(page);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await openPanel(page);
  expect(asked.some((path) => /\/assets\/panel-/.test(path))).toBe(true); // only now
  await expect(row(page, "Engine")).toHaveText(/^threads\S*, release \d+\.\d+\.\d+-[0-9a-f]{8}$/);
  await expect(row(page, "Threads")).toHaveText(/^\d+ of \d+ cores: /);
  await expect(row(page, "Memory")).toHaveText(/^\d+ MB: \d+ MB of weights, /);
  await expect(row(page, "Network")).toHaveText(
    /^None: nothing that you write leaves this device\. For this model 13 MB came from localhost:\d+\.$/,
  );
  await generate(page);
  await expect(row(page, "Speed")).toHaveText(/^[\d.]+ tokens\/s$/);
  await page.getByRole("button", { name: "Measure speed" }).click();
  await expect(row(page, "Speed")).toHaveText(
    /^[\d.]+ tokens\/s: \d+ % of what this device's memory allows, [\d.]+ tokens\/s\.$/,
    { timeout: 50_000 },
  );
  await expect(page.getByRole("button", { name: "Measure speed" })).toHaveAttribute("aria-disabled", "false");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target)])).toEqual([]);
  }
  expect(page.workers().filter((worker) => worker.url().startsWith("blob:"))).toEqual([]); // none is left
});

test("a measurement gives way to who writes, and cannot begin meanwhile", async ({ page }) => {
  await page.goto("./?threads=1");
  await expectReady(page);
  await openPanel(page);
  await expect(row(page, "Threads")).toHaveText(/^1 of \d+ cores, as the address of this page asks\.$/);
  await setOption(page, "Tokens", "4096");
  await page.getByRole("button", { name: "Measure speed" }).click();
  await expect(page.getByText("Measuring, a few seconds…")).toBeVisible();
  await startLongText(page);
  await expect(page.getByText("The measurement was interrupted.")).toBeVisible({ timeout: 30_000 });
  const button = page.getByRole("button", { name: "Measure speed" });
  await expect(button).toHaveAttribute("aria-disabled", "true");
  await page.keyboard.press("Escape");
  await expect(button).toHaveAttribute("aria-disabled", "false");
});

test("where no part of it can be fetched, that is said, and asked for again", async ({ page }) => {
  await page.route("**/assets/panel-*.js", (route) => route.abort());
  await open(page);
  const summary = page.getByText("State of engine and device");
  await summary.click();
  await expect(page.locator("#device-panel")).toContainText("This part of the page could not be loaded");
  await page.unroute("**/assets/panel-*.js");
  await summary.click();
  await openPanel(page);
});
