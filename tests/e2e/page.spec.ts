// The built page, used as a visitor uses it.
import { expect, test } from "@playwright/test";
import {
  expectGrowth,
  expectReady,
  generate,
  generateAnew,
  open,
  press,
  setLength,
  setOption,
  setText,
  startLongText,
  textOf,
  writeOn,
} from "./page.js";

test("a long text grows piece by piece, drawn at most once per frame, with only its visible part in the document", async ({
  page,
}) => {
  await open(page);
  const given = "The dog ran.\n".repeat(4000);
  await setText(page, given);
  await setLength(page, "300");
  await page.evaluate(() => {
    const counts = { frames: 0, drawings: 0 };
    Object.assign(window, { counts });
    const countFrame = () => {
      counts.frames += 1;
      requestAnimationFrame(countFrame);
    };
    requestAnimationFrame(countFrame);
    // The callback runs once for all changes that are made together.
    const observer = new MutationObserver(() => (counts.drawings += 1));
    const editor = document.querySelector("#editor .cm-content");
    if (editor) observer.observe(editor, { childList: true, characterData: true, subtree: true });
  });
  const text = await generate(page);
  expect(text.startsWith(given)).toBe(true);
  expect(text.length).toBeGreaterThan(given.length + 60);
  const { frames, drawings, shown } = await page.evaluate(() => ({
    ...(window as unknown as { counts: { frames: number; drawings: number } }).counts,
    shown: document.querySelector("#editor .cm-content")?.textContent.length ?? 0,
  }));
  expect(drawings).toBeGreaterThan(10);
  expect(drawings).toBeLessThanOrEqual(2 * frames + 5); // the text, and what comes into view with it
  expect(shown).toBeLessThan(20_000);
  await expect(page.locator("#speed")).toContainText("tokens/s");
  await expect(page.locator("#engine")).toContainText("threads-relaxed");
});

test("the view follows the text until the reader scrolls up", async ({ page }) => {
  await page.setViewportSize({ width: 400, height: 500 });
  await open(page);
  await startLongText(page);
  const endBelowView = () =>
    page.evaluate(() => {
      const { bottom } = (document.querySelector("#editor .pen") as Element).getBoundingClientRect();
      return bottom - (document.querySelector("#dock") as Element).getBoundingClientRect().top;
    });
  await expectGrowth(page, 1000);
  expect(await endBelowView()).toBeLessThanOrEqual(0);

  await page.mouse.move(200, 250);
  await page.mouse.wheel(0, -300);
  await expect.poll(endBelowView).toBeGreaterThan(100);
  await expectGrowth(page, 0); // what was running when the wheel turned has finished
  const top = await page.evaluate(() => window.scrollY);
  await expectGrowth(page, 300);
  expect(await page.evaluate(() => window.scrollY)).toBe(top);

  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await expectGrowth(page, 300);
  expect(await endBelowView()).toBeLessThanOrEqual(0);
});

test("the options decide what the model writes; an emptied option has its default", async ({ page }) => {
  await open(page);
  await setOption(page, "Seed", "7");
  const first = await generateAnew(page);
  for (const label of ["Tokens", "Temperature", "Top k", "Top p", "Min p", "Repetition penalty"])
    await setOption(page, label, "");
  expect(await generateAnew(page)).toBe(first);
  await setOption(page, "Seed", "8");
  expect(await generateAnew(page)).not.toBe(first);

  await setOption(page, "Temperature", "0");
  await setOption(page, "Tokens", "12");
  const greedy = await generateAnew(page);
  await setOption(page, "Seed", "99");
  expect(await generateAnew(page)).toBe(greedy); // the seed does not matter at temperature 0
  await setOption(page, "Stop at", " ");
  await setText(page, "Once upon a time");
  await writeOn(page);
  await expect(page.locator("#finish")).toContainText("stop text");
  const stopped = await textOf(page);
  expect(greedy.startsWith(stopped)).toBe(true);
  expect(stopped.length).toBeLessThan(greedy.length);
});

test("a double click starts one run, which Stop ends, and so does leaving the page; the next run works", async ({
  page,
}) => {
  await open(page);
  await setLength(page, "4096");
  await page.locator("#generate").dblclick();
  await expect(page.locator("#speed")).toContainText("tokens/s");
  await page.getByRole("textbox", { name: "Text" }).press("Control+Enter");
  await expect(page.locator("#finish")).toContainText("The model is writing");
  await page.getByRole("button", { name: "Stop" }).dblclick();
  await expect(page.locator("#finish")).toContainText("Stopped,");
  await expect(page.getByRole("alert")).toBeHidden();
  const stopped = await textOf(page);
  await setOption(page, "Tokens", "5");
  expect(await generate(page)).not.toBe(stopped);

  await startLongText(page);
  await page.goto("about:blank");
  await page.goBack();
  await expectReady(page);
  await setOption(page, "Tokens", "5");
  await generate(page);
});

test("the model continues an empty text and a text of a megabyte", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  await setLength(page, "20");
  expect((await generateAnew(page, "")).length).toBeGreaterThan(10);
  const long = "Once upon a time there was a little dog. ".repeat(25_000);
  await page.evaluate((text) => navigator.clipboard.writeText(text), long);
  await page.locator("#editor .cm-content").press("Control+A");
  await page.keyboard.press("Control+V");
  await generate(page);
  await expect(page.locator("#finish")).toContainText("no longer fit the context");
  await press(page, "copy");
  await expect(page.locator("#finish")).toContainText("Copied.");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.length).toBeGreaterThan(long.length);
  expect(copied.startsWith(long)).toBe(true);
});
