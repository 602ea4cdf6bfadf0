// What the tests of the page do over and over.
import { expect, type Page } from "@playwright/test";

/** The model is loaded, and none is being loaded. */
export async function expectReady(page: Page): Promise<void> {
  await expect(page.locator("#engine")).not.toHaveText("–", { timeout: 30_000 });
  await expect(page.locator("#loading")).toBeHidden({ timeout: 30_000 });
  await expect(page.getByRole("button", { name: "Generate" })).toBeEnabled();
}

/** Opens the page until it is ready; it may ask no other host and throw nothing. */
export async function open(page: Page, query = ""): Promise<void> {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith("http://localhost") && !request.url().startsWith("data:"))
      problems.push(`asked ${request.url()}`);
  });
  await page.goto(`./${query}`);
  await expectReady(page);
  expect(problems).toEqual([]);
}

export async function setOption(page: Page, label: string, value: string): Promise<void> {
  const options = page.locator("#options");
  if ((await options.getAttribute("open")) === null) await options.locator("summary").click();
  await page.getByLabel(label, { exact: true }).fill(value);
}

/** The whole text, when it is finished. */
export async function generate(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Generate" }).click();
  await expect(page.locator("#finish")).toContainText("Seed", { timeout: 30_000 });
  return textOf(page);
}

export async function textOf(page: Page): Promise<string> {
  return (await page.locator("#output").textContent()) ?? "";
}

/** Starts a text of several seconds; resolves when it grows. */
export async function startLongText(page: Page): Promise<void> {
  await setOption(page, "Tokens", "4096");
  await page.getByLabel("Ignore end of text").check();
  await page.getByRole("button", { name: "Generate" }).click();
  await expect(page.locator("#speed")).toContainText("tokens/s", { timeout: 30_000 });
}

/** Ends the engine's worker as a crash does. */
export async function killWorker(page: Page): Promise<void> {
  const worker = page.workers().find((each) => /gpt2-worker|^blob:/.test(each.url()));
  if (!worker) throw new Error("the page has no worker");
  await worker.evaluate(() => {
    setTimeout(() => {
      throw new Error("killed by the test");
    });
  });
}
