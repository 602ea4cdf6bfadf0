// The built page, used as a visitor uses it.
import { expect, test, type Page } from "@playwright/test";

async function open(page: Page, query = ""): Promise<void> {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith("http://localhost") && !request.url().startsWith("data:"))
      problems.push(`asked ${request.url()}`);
  });
  await page.goto(`./${query}`);
  await expect(page.getByRole("button", { name: "Generate" })).toBeEnabled({ timeout: 30_000 });
  expect(problems).toEqual([]);
}

async function setOption(page: Page, label: string, value: string): Promise<void> {
  const options = page.locator("#options");
  if ((await options.getAttribute("open")) === null) await options.locator("summary").click();
  await page.getByLabel(label, { exact: true }).fill(value);
}

async function generate(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Generate" }).click();
  await expect(page.locator("#finish")).toContainText("Seed", { timeout: 30_000 });
  return (await page.locator("#output").textContent()) ?? "";
}

test("writes on after the prompt, token by token, and says how fast", async ({ page }) => {
  await open(page);
  await page.evaluate(() => {
    const lengths: number[] = [];
    Object.assign(window, { lengths });
    const output = document.querySelector("#output");
    if (output)
      new MutationObserver(() => lengths.push(output.textContent?.length ?? 0)).observe(output, {
        childList: true,
      });
  });
  await page.getByLabel("Prompt").fill("The little dog");
  const text = await generate(page);
  expect(text.startsWith("The little dog")).toBe(true);
  expect(text.length).toBeGreaterThan(60);
  const lengths = await page.evaluate(() => (window as unknown as { lengths: number[] }).lengths);
  expect(new Set(lengths).size).toBeGreaterThan(10); // it grew piece by piece
  await expect(page.locator("#speed")).toContainText("tokens/s");
  await expect(page.locator("#engine")).toContainText("threads-relaxed");
});

test("the same seed gives the same text, another one another", async ({ page }) => {
  await open(page);
  await setOption(page, "Seed", "7");
  await setOption(page, "Tokens", "40");
  const first = await generate(page);
  expect(await generate(page)).toBe(first);
  await setOption(page, "Seed", "8");
  expect(await generate(page)).not.toBe(first);
});

test("options change what is written", async ({ page }) => {
  await open(page);
  await setOption(page, "Temperature", "0");
  await setOption(page, "Tokens", "12");
  const greedy = await generate(page);
  await setOption(page, "Seed", "99");
  expect(await generate(page)).toBe(greedy); // the seed does not matter at temperature 0
  await setOption(page, "Stop at", " ");
  await page.getByRole("button", { name: "Generate" }).click();
  await expect(page.locator("#finish")).toContainText("stop text");
  const stopped = (await page.locator("#output").textContent()) ?? "";
  expect(greedy.startsWith(stopped)).toBe(true);
  expect(stopped.length).toBeLessThan(greedy.length);
});

test("Stop stops, and the next generation works", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "4096");
  await page.getByLabel("Ignore end of text").check();
  await page.getByRole("button", { name: "Generate" }).click();
  await expect(page.locator("#speed")).toContainText("tokens/s");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator("#finish")).toContainText("Stopped after");
  const stopped = await page.locator("#output").textContent();
  await setOption(page, "Tokens", "5");
  await generate(page);
  expect(await page.locator("#output").textContent()).not.toBe(stopped);
});

test("an option outside its range is explained, and nothing breaks", async ({ page }) => {
  await open(page);
  await setOption(page, "Top p", "1.5");
  await page.locator("#prompt").press("Control+Enter"); // past the form's own check
  await expect(page.getByRole("alert")).toContainText("topP is 1.5, expected a number from 0 to 1");
  await setOption(page, "Top p", "0.9");
  await setOption(page, "Tokens", "5");
  await generate(page);
  await expect(page.getByRole("alert")).toBeHidden();
});

test("a model that is not there is named, and can be tried again", async ({ page }) => {
  let isBroken = true;
  await page.route("**/models/demo/config.json", (route) =>
    isBroken ? route.fulfill({ status: 404 }) : route.continue(),
  );
  await page.goto("./");
  await expect(page.getByRole("alert")).toContainText("models/demo/config.json");
  await expect(page.getByRole("alert")).toContainText("404");
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("button", { name: "Generate" })).toBeEnabled({ timeout: 30_000 });
});

test("loading can be cancelled, and started again", async ({ page }) => {
  let isSlow = true;
  await page.route("**/model.safetensors.001", async (route) => {
    if (!isSlow) await route.continue(); // else it never arrives
  });
  await page.goto("./");
  await expect(page.locator("#loading-bytes")).toContainText(" of ", { timeout: 30_000 });
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("alert")).toContainText("Loading was cancelled.");
  isSlow = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("button", { name: "Generate" })).toBeEnabled({ timeout: 30_000 });
});

test("damaged weights are noticed", async ({ page }) => {
  await page.route("**/model.safetensors.000", async (route) => {
    const response = await route.fetch();
    const body = await response.body();
    body[body.length - 5] ^= 1;
    await route.fulfill({ response, body });
  });
  await page.goto("./");
  await expect(page.getByRole("alert")).toContainText("model.safetensors.000 has SHA-256", {
    timeout: 30_000,
  });
});

test("works by keyboard alone", async ({ page }) => {
  await open(page);
  await page.getByLabel("Prompt").focus();
  await page.keyboard.press("Control+Enter");
  await expect(page.locator("#output")).toHaveClass(/busy/);
  await page.keyboard.press("Escape");
  await expect(page.locator("#finish")).not.toBeEmpty();
});

for (const [name, width, height] of [
  ["phone", 360, 740],
  ["desktop", 1280, 900],
] as const) {
  test(`fits a ${name}`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await open(page);
    await page.locator("summary").click();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  });
}

test("the page stays responsive while the model writes", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "200");
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(window, { tasks });
    new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({
      type: "longtask", // those of over 50 ms
    });
  });
  await generate(page);
  const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks);
  expect(tasks).toEqual([]);
});
