// The built page, used as a visitor uses it.
import { expect, test } from "@playwright/test";
import { expectReady, generate, open, setOption, startLongText, textOf } from "./page.js";

test("writes on after the prompt, piece by piece, and says how fast", async ({ page }) => {
  await open(page);
  await page.evaluate(() => {
    const lengths: number[] = [];
    Object.assign(window, { lengths });
    const output = document.querySelector("#output");
    if (output)
      new MutationObserver(() => lengths.push(output.textContent.length)).observe(output, {
        characterData: true,
        subtree: true,
      });
  });
  await page.getByLabel("Prompt").fill("The little dog");
  const text = await generate(page);
  expect(text.startsWith("The little dog")).toBe(true);
  expect(text.length).toBeGreaterThan(60);
  const lengths = await page.evaluate(() => (window as unknown as { lengths: number[] }).lengths);
  expect(new Set(lengths).size).toBeGreaterThan(5);
  await expect(page.locator("#speed")).toContainText("tokens/s");
  await expect(page.locator("#engine")).toContainText("threads-relaxed");
});

test("a long text is one text node, drawn at most once a frame", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "300");
  await page.getByLabel("Ignore end of text").check();
  await page.evaluate(() => {
    const counts = { frames: 0, changes: 0 };
    Object.assign(window, { counts });
    const countFrame = () => {
      counts.frames += 1;
      requestAnimationFrame(countFrame);
    };
    requestAnimationFrame(countFrame);
    const observer = new MutationObserver((records) => (counts.changes += records.length));
    const output = document.querySelector("#output");
    if (output) observer.observe(output, { childList: true, characterData: true, subtree: true });
  });
  await generate(page);
  const { frames, changes, nodes } = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let nodes = 0;
    while (walker.nextNode()) if (walker.currentNode.parentElement?.closest("#output")) nodes += 1;
    return { ...(window as unknown as { counts: { frames: number; changes: number } }).counts, nodes };
  });
  expect(nodes).toBe(2); // the prompt's and the model's
  expect(changes).toBeGreaterThan(10);
  expect(changes).toBeLessThanOrEqual(frames + 5); // those of the prompt, and one at the end
});

test("the view follows the text, until the reader scrolls up", async ({ page }) => {
  await page.setViewportSize({ width: 400, height: 500 });
  await open(page);
  await startLongText(page);
  const grownBy = async (characters: number) => {
    const length = (await textOf(page)).length;
    const grown = async () => (await textOf(page)).length - length;
    await expect.poll(grown, { timeout: 20_000 }).toBeGreaterThan(characters);
  };
  const endBelowView = () =>
    page.evaluate(() => {
      const { bottom } = (document.querySelector("#output") as Element).getBoundingClientRect();
      return bottom - window.innerHeight;
    });
  await grownBy(1000);
  expect(await endBelowView()).toBeLessThanOrEqual(0);

  await page.mouse.move(200, 250);
  await page.mouse.wheel(0, -300);
  await expect.poll(endBelowView).toBeGreaterThan(100);
  await grownBy(0); // what was under way when the wheel turned is done
  const top = await page.evaluate(() => window.scrollY);
  await grownBy(300);
  expect(await page.evaluate(() => window.scrollY)).toBe(top);

  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await grownBy(300);
  expect(await endBelowView()).toBeLessThanOrEqual(0);
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
  const stopped = await textOf(page);
  expect(greedy.startsWith(stopped)).toBe(true);
  expect(stopped.length).toBeLessThan(greedy.length);
});

test("an emptied option is what it was at first", async ({ page }) => {
  await open(page);
  await setOption(page, "Seed", "3");
  const text = await generate(page);
  for (const label of ["Tokens", "Temperature", "Top k", "Top p", "Min p", "Repetition penalty"])
    await setOption(page, label, "");
  expect(await generate(page)).toBe(text);
});

test("Stop stops, and the next generation works", async ({ page }) => {
  await open(page);
  await startLongText(page);
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator("#finish")).toContainText("Stopped after");
  const stopped = await textOf(page);
  await setOption(page, "Tokens", "5");
  await generate(page);
  expect(await textOf(page)).not.toBe(stopped);
});

test("Continue goes on from the whole text", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "30");
  await page.getByLabel("Ignore end of text").check();
  const text = await generate(page);
  await page.getByRole("button", { name: "Continue" }).click();
  await expect.poll(async () => (await textOf(page)).length).toBeGreaterThan(text.length + 20);
  expect((await textOf(page)).startsWith(text)).toBe(true);
});

test("a double click writes one text, and more presses say why they do nothing", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "4096");
  await page.getByLabel("Ignore end of text").check();
  await page.getByRole("button", { name: "Generate" }).dblclick();
  await expect(page.locator("#speed")).toContainText("tokens/s");
  await page.getByLabel("Prompt").press("Control+Enter");
  await expect(page.locator("#finish")).toContainText("Still writing");
  await page.getByRole("button", { name: "Stop" }).dblclick();
  await expect(page.locator("#finish")).toContainText("Stopped after");
  await expect(page.getByRole("alert")).toBeHidden();
});

test("an empty prompt and one of a megabyte are written on from", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  await setOption(page, "Tokens", "20");
  await page.getByLabel("Prompt").fill("");
  expect((await generate(page)).length).toBeGreaterThan(10);
  const long = "Once upon a time there was a little dog. ".repeat(25_000);
  await page.getByLabel("Prompt").fill(long);
  await generate(page);
  await expect(page.locator("#finish")).toContainText("no longer fitted the context");
  // Only its end is laid out, but Copy and Continue have all of it.
  const shown = await textOf(page);
  expect(shown).toMatch(/^The first 1,009,000 characters are not shown; Copy takes them, too\./);
  expect(shown.length).toBeLessThan(20_000);
  await page.getByRole("button", { name: "Copy" }).click();
  await expect(page.locator("#finish")).toContainText("Copied.");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.length).toBeGreaterThan(long.length);
  expect(copied.startsWith(long)).toBe(true);
});

test("without a clipboard, Copy selects the text", async ({ page }) => {
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await open(page);
  await setOption(page, "Tokens", "5");
  const text = await generate(page);
  await page.getByRole("button", { name: "Copy" }).click();
  await expect(page.locator("#finish")).toContainText("The text is selected");
  expect(await page.evaluate(() => String(getSelection()))).toBe(text);
});

test("two tabs write at the same time", async ({ page, context }) => {
  const other = await context.newPage();
  // One after the other: the memory cache of a private window stalls where two tabs fetch one file at once.
  await open(page);
  await open(other);
  for (const each of [page, other]) {
    await setOption(each, "Seed", "5");
    await setOption(each, "Tokens", "30");
  }
  const texts = await Promise.all([generate(page), generate(other)]);
  expect(texts[0]).toBe(texts[1]);
});

test("leaving the page while it writes and coming back finds it ready", async ({ page }) => {
  await open(page);
  await startLongText(page);
  await page.goto("about:blank");
  await page.goBack();
  await expectReady(page);
  await setOption(page, "Tokens", "5");
  await generate(page);
});

test("a reload keeps the text, and what stands in the field", async ({ page }) => {
  await open(page);
  const text = await generate(page);
  await page.getByLabel("Prompt").fill("Another beginning");
  await page.reload();
  await expectReady(page);
  expect(await textOf(page)).toBe(text);
  await expect(page.getByLabel("Prompt")).toHaveValue("Another beginning");
  await page.locator("#options summary").click();
  await page.getByLabel("Ignore end of text").check(); // the model may have ended the text
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.locator("#finish")).toContainText("Seed", { timeout: 30_000 });
  const longer = await textOf(page);
  expect(longer.startsWith(text)).toBe(true);
  expect(longer.length).toBeGreaterThan(text.length);
});

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
