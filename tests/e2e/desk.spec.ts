// What a writer expects of a desk: search, direction of text, buttons in reach, the side panel, and its settings.
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible } from "./axe.js";
import {
  expectIdle,
  generate,
  inEditor,
  open,
  openSection,
  openWithoutModel,
  setOption,
  setText,
  showView,
  textOf,
} from "./page.js";

const text = (page: Page) => page.locator("#editor .cm-content");
const find = (page: Page) => page.locator(".cm-search");

test("Ctrl + F finds text far outside the window, and replaces it, wherever the focus was", async ({
  page,
}) => {
  await openWithoutModel(page);
  const sentences = Array.from({ length: 400 }, (_, i) => `This is the sentence number ${i}.`);
  await setText(page, `${sentences.join("\n")}\nThe whale slept. Another whale woke.`);
  await text(page).press("Control+Home");
  await page.locator("#generate").focus();
  await page.keyboard.press("Control+f");
  await expect(find(page).getByPlaceholder("Find")).toBeFocused();
  await page.keyboard.type("whale");
  const count = find(page).locator(".find-count");
  await expect(count).toHaveText("2");
  await page.keyboard.press("Enter");
  await expect(count).toHaveText("1 / 2");
  const selected = () =>
    inEditor(page, ({ state }) => state.sliceDoc(state.selection.main.from, state.selection.main.to), null);
  await expect.poll(selected).toBe("whale");
  await expect(page.locator(".cm-searchMatch-selected")).toBeInViewport();
  await find(page).getByPlaceholder("Replace with").fill("cat");
  await find(page).getByRole("button", { name: "Replace all" }).click();
  expect(await textOf(page)).toMatch(/The cat slept\. Another cat woke\.$/);
  await expect(count).toHaveText("Replaced: 2.");
  await page.keyboard.press("Escape");
  await expect(find(page)).toHaveCount(0);
});

test("each paragraph has its own direction, in the text, in the plain field and in the fields beside the text", async ({
  page,
}) => {
  await openWithoutModel(page);
  await setText(page, "שלום עולם\nHello world\nمرحبا");
  const directions = page
    .locator("#editor .cm-line")
    .evaluateAll((lines) => lines.map((line) => getComputedStyle(line).direction));
  expect(await directions).toEqual(["rtl", "ltr", "rtl"]);
  await showView(page, "Sees");
  await page.getByLabel("Always remember").fill("שלום עולם\nHello world");
  for (const field of ["#draft", "#field-remember", "#field-note"])
    await expect(page.locator(field)).toHaveCSS("unicode-bidi", "plaintext");
  await expect(page.locator("#field-remember")).toHaveCSS("direction", "rtl");
});

test("the buttons fit in one row in both languages, each large enough for a finger", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "12");
  await setOption(page, "Temperature", "3"); // so that each text is different
  await page.locator("#panel-close").click();
  await generate(page);
  await page.locator("#regenerate").click();
  await expectIdle(page);
  await expect(page.locator("#alternative")).toHaveText("2/2");
  for (const language of ["Deutsch", "English"]) {
    await page.locator("#language").selectOption(language);
    await expect(page.locator("#generate")).toHaveText(language === "English" ? "Write on" : "Weiter");
    for (const [width, height] of [
      [360, 740],
      [390, 844],
      [1024, 768],
      [1440, 900],
    ] as const) {
      await page.setViewportSize({ width, height });
      const where = `${language}, ${width} px`;
      const buttons = page.locator("#bar button:visible");
      const boxes = () =>
        buttons.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON() as DOMRect));
      const rows = async () => new Set((await boxes()).map(({ top }) => Math.round(top))).size;
      await expect.poll(rows, where).toBe(1); // the words of the last language may still be there
      const found = await boxes();
      const least = Math.min(...found.map((box) => Math.min(box.width, box.height)));
      expect(least, where).toBeGreaterThanOrEqual(width < 400 ? 44 : 40);
      expect(Math.max(...found.map(({ right }) => right)), where).toBeLessThanOrEqual(width);
    }
  }
});

test("on a phone, an open panel leaves the buttons at the lower end; each of its buttons suits a finger", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page); // an error that no model could be loaded would take room in the dock
  await setText(page, "A line.\n".repeat(40));
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await openSection(page, "options");
  const below = () =>
    page.locator("#dock").evaluate((dock) => Math.round(innerHeight - dock.getBoundingClientRect().bottom));
  expect(await below()).toBe(0);
  await page.locator("#panel").evaluate((panel) => panel.scrollTo(0, panel.scrollHeight));
  expect(await below()).toBe(0);

  await page.locator("#panel-close").click();
  await page.locator("#chooser summary").click();
  await page.locator("#library-open").click();
  const sections = page.locator("#panel > details > summary");
  for (let section = 0; section < (await sections.count()); section += 1) {
    if (section > 0) await sections.nth(section).click();
    const buttons = page.locator(":is(#chooser, #panel) button:visible");
    await expect.poll(() => buttons.count()).toBeGreaterThan(5); // a section's part may load when it opens
    const sizes = await buttons.evaluateAll((all) =>
      all.map((each) => {
        const { width, height } = each.getBoundingClientRect();
        return [each.textContent, Math.min(width, height)] as const;
      }),
    );
    expect(sizes.filter(([, size]) => size < 44)).toEqual([]);
  }
});

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });

test("presets set the numbers, sliders move them, the picture shows both, and Escape returns the focus", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await open(page);
  await setText(page, "Once upon a time there was a");
  await expect(page.locator("#preset-shown")).toHaveText("Balanced");
  await page.locator("#preset-shown").press("Enter");
  const picture = page.locator("#picture-words");
  await expect(picture).toContainText(/^\d+ of the 100 most probable tokens can come next: “␣/);
  const staying = async () => Number.parseInt((await picture.textContent()) ?? "", 10);
  const balanced = await field(page, "Temperature").inputValue();

  const sentence = "also takes unlikely tokens";
  await expect(page.getByText(sentence)).toBeVisible(); // also without a pointer
  await expect(page.getByRole("button", { name: "Wild" })).toHaveAccessibleDescription(sentence);
  await page.getByRole("button", { name: "Wild" }).click();
  await expect(page.locator("#preset-shown")).toHaveText("Wild");
  await expect(field(page, "Temperature")).toHaveValue("1.3");
  await expect(field(page, "Top k")).toHaveValue("0");
  await expect(field(page, "Temperature slider")).toHaveValue("1.3");
  const wild = await staying();
  await page.getByRole("button", { name: "Precise" }).click();
  await expect(field(page, "Temperature")).toHaveValue("0.4");
  expect(await staying()).toBeLessThan(wild);
  await page.getByRole("button", { name: "Balanced" }).click();
  await expect(field(page, "Temperature")).toHaveValue(balanced);

  await field(page, "Top p").fill("1");
  await field(page, "Top k slider").fill("7");
  await expect(field(page, "Top k")).toHaveValue("7");
  await expect(picture).toContainText("7 of the 100");
  await field(page, "Temperature slider").fill("0");
  await expect(picture).toHaveText(/^1 of the 100 most probable tokens can come next: “␣\S+” 100%$/);
  await field(page, "Temperature").fill("9"); // refused: the picture stays as it was
  await expect(picture).toContainText("1 of the 100");
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await page.keyboard.press("Escape");
  await expect(page.locator("#panel")).toBeHidden();
  await expect(page.locator("#preset-shown")).toBeFocused();
});
