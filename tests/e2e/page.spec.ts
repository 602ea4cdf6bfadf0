// The built page, used as a visitor uses it.
import { expect, test } from "@playwright/test";
import {
  expectEditor,
  expectFinished,
  expectReady,
  generate,
  generateAnew,
  inEditor,
  open,
  openSection,
  openWithoutModel,
  press,
  seedOf,
  setOption,
  setText,
  startLongText,
  textOf,
  writeOn,
} from "./page.js";
import { expectStored, storedTexts } from "./stored-texts.js";

test("the model continues the prompt piece by piece, and the page shows the speed", async ({ page }) => {
  await open(page);
  await page.evaluate(() => {
    const lengths: number[] = [];
    Object.assign(window, { lengths });
    const editor = document.querySelector("#editor .cm-content");
    if (editor)
      new MutationObserver(() => lengths.push(editor.textContent.length)).observe(editor, {
        characterData: true,
        childList: true,
        subtree: true,
      });
  });
  await setText(page, "The little dog");
  await setOption(page, "Tokens", "300");
  await page.getByLabel("Ignore end of text").check();
  const text = await generate(page);
  expect(text.startsWith("The little dog")).toBe(true);
  expect(text.length).toBeGreaterThan(60);
  const lengths = await page.evaluate(() => (window as unknown as { lengths: number[] }).lengths);
  expect(new Set(lengths).size).toBeGreaterThan(5);
  await expect(page.locator("#speed")).toContainText("tokens/s");
  await expect(page.locator("#engine")).toContainText("threads-relaxed");
});

test("a long text is drawn at most once per frame, and only its visible part is in the document", async ({
  page,
}) => {
  await open(page);
  await setText(page, "The dog ran.\n".repeat(4000));
  await setOption(page, "Tokens", "300");
  await page.getByLabel("Ignore end of text").check();
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
  expect((await generate(page)).length).toBeGreaterThan(52_000);
  const { frames, drawings, shown } = await page.evaluate(() => ({
    ...(window as unknown as { counts: { frames: number; drawings: number } }).counts,
    shown: document.querySelector("#editor .cm-content")?.textContent.length ?? 0,
  }));
  expect(drawings).toBeGreaterThan(10);
  expect(drawings).toBeLessThanOrEqual(2 * frames + 5); // the text, and what comes into view with it
  expect(shown).toBeLessThan(20_000);
});

test("the view follows the text until the reader scrolls up", async ({ page }) => {
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
      const { bottom } = (document.querySelector("#editor .pen") as Element).getBoundingClientRect();
      return bottom - (document.querySelector("#dock") as Element).getBoundingClientRect().top;
    });
  await grownBy(1000);
  expect(await endBelowView()).toBeLessThanOrEqual(0);

  await page.mouse.move(200, 250);
  await page.mouse.wheel(0, -300);
  await expect.poll(endBelowView).toBeGreaterThan(100);
  await grownBy(0); // what was running when the wheel turned has finished
  const top = await page.evaluate(() => window.scrollY);
  await grownBy(300);
  expect(await page.evaluate(() => window.scrollY)).toBe(top);

  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await grownBy(300);
  expect(await endBelowView()).toBeLessThanOrEqual(0);
});

test("the same seed gives the same text, and another seed another text", async ({ page }) => {
  await open(page);
  await setOption(page, "Seed", "7");
  await setOption(page, "Tokens", "40");
  const first = await generateAnew(page);
  expect(await generateAnew(page)).toBe(first);
  await setOption(page, "Seed", "8");
  expect(await generateAnew(page)).not.toBe(first);
});

test("options change what the model writes", async ({ page }) => {
  await open(page);
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

test("an emptied option has its default", async ({ page }) => {
  await open(page);
  await setOption(page, "Seed", "3");
  const text = await generateAnew(page);
  for (const label of ["Tokens", "Temperature", "Top k", "Top p", "Min p", "Repetition penalty"])
    await setOption(page, label, "");
  expect(await generateAnew(page)).toBe(text);
});

test("Stop ends the run, and the next one works", async ({ page }) => {
  await open(page);
  await startLongText(page);
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator("#finish")).toContainText("Stopped,");
  const stopped = await textOf(page);
  await setOption(page, "Tokens", "5");
  await generate(page);
  expect(await textOf(page)).not.toBe(stopped);
});

test("Continue continues from the end of the whole text", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "30");
  await page.getByLabel("Ignore end of text").check();
  const text = await generate(page);
  await press(page, "continue");
  await expect.poll(async () => (await textOf(page)).length).toBeGreaterThan(text.length + 20);
  expect((await textOf(page)).startsWith(text)).toBe(true);
});

test("a double click starts one run, and further presses explain why they do nothing", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "4096");
  await page.getByLabel("Ignore end of text").check();
  await page.locator("#generate").dblclick();
  await expect(page.locator("#speed")).toContainText("tokens/s");
  await page.getByRole("textbox", { name: "Text" }).press("Control+Enter");
  await expect(page.locator("#finish")).toContainText("The model is writing");
  await page.getByRole("button", { name: "Stop" }).dblclick();
  await expect(page.locator("#finish")).toContainText("Stopped,");
  await expect(page.getByRole("alert")).toBeHidden();
});

test("the model continues an empty text and a text of a megabyte", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  await setOption(page, "Tokens", "20");
  await page.getByLabel("Ignore end of text").check();
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

test("without a clipboard, Copy selects the text", async ({ page }) => {
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await open(page);
  await setOption(page, "Tokens", "5");
  const text = await generate(page);
  await press(page, "copy");
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

test("leaving the page while the model writes and coming back finds it ready", async ({ page }) => {
  await open(page);
  await startLongText(page);
  await page.goto("about:blank");
  await page.goBack();
  await expectReady(page);
  await setOption(page, "Tokens", "5");
  await generate(page);
});

test("a page that is closed without an event has stored the text, its options and the undo history", async ({
  page,
}) => {
  await page.addInitScript(() => {
    addEventListener("pagehide", (event) => event.stopImmediatePropagation());
  });
  await openWithoutModel(page);
  await setText(page, "A cat sat here.");
  await setOption(page, "Temperature", "0.3");
  await setOption(page, "Stop at", "\\n");
  await page.getByLabel("Ignore end of text").check();
  await setOption(page, "Seed", "42");
  await expect
    .poll(async () => (await storedTexts(page)).map(({ options }) => options?.seed), { timeout: 10_000 })
    .toContain(42);
  await page.reload();
  await expectEditor(page);
  expect(await textOf(page)).toBe("A cat sat here.");
  await openSection(page, "options");
  await expect(page.getByLabel("Temperature", { exact: true })).toHaveValue("0.3");
  await expect(page.getByLabel("Stop at")).toHaveValue("\\n");
  await expect(page.getByLabel("Ignore end of text")).toBeChecked();
  await expect(page.getByLabel("Seed")).toHaveValue("42");
  await page.getByRole("button", { name: "Undo" }).click();
  expect(await textOf(page)).toBe("Once upon a time");
});

test("a page that is hidden stores the text at once", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, "A cat sat here.");
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden" });
    document.dispatchEvent(new Event("visibilitychange"));
    Object.assign(window, { setTimeout: () => 0 }); // nothing is stored later
  });
  await expectStored(page, "A cat sat here.");
});

test("a reload keeps the text, who wrote it, and the caret", async ({ page }) => {
  await open(page);
  const text = await generate(page);
  const inks = () => page.locator("#editor .models").allTextContents();
  const before = await inks();
  await expectStored(page, text); // before that, a reload restores the text alone
  await inEditor(page, (view) => view.dispatch({ selection: { anchor: 4 } }), null);
  await page.reload();
  await expectReady(page);
  expect(await textOf(page)).toBe(text);
  await expect.poll(inks).toEqual(before);
  expect(before.join("").length).toBeGreaterThan(40);
  expect(await inEditor(page, ({ state }) => state.selection.main.head, null)).toBe(4);
  await openSection(page, "options");
  await page.getByLabel("Ignore end of text").check(); // the model may have ended the text
  await press(page, "continue");
  await expectFinished(page);
  const longer = await textOf(page);
  expect(longer.startsWith(text)).toBe(true);
  expect(longer.length).toBeGreaterThan(text.length);
});

test("a reload keeps what Another replaces, and the last seed", async ({ page }) => {
  await open(page);
  await setText(page, "A cat sat");
  await setOption(page, "Tokens", "8");
  const first = await generate(page);
  const seed = await seedOf(page);
  await expectStored(page, first);
  await page.reload();
  await expectReady(page);
  await openSection(page, "options");
  await page.getByRole("button", { name: "Same again" }).click();
  await expect(page.getByLabel("Seed")).toHaveValue(seed);
  await page.getByRole("button", { name: "Another" }).click();
  await expect(page.locator("#finish")).toContainText("the same text again", { timeout: 30_000 });
  expect(await textOf(page)).toBe(first);
  for (const before of [first, "A cat sat"]) {
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await textOf(page)).toBe(before);
  }
});
