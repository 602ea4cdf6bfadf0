// The behaviour that a writer expects of any text field: search, paste, direction, focus, and a presenter's keys on the stage.
import { expect, test, type Page } from "@playwright/test";
import {
  expectFinished,
  expectReady,
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

test("after loading, the text has the focus", async ({ page }) => {
  await open(page);
  await expect(text(page)).toBeFocused();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" there");
  expect(await textOf(page)).toBe("Once upon a time there");
});

test("Ctrl + F finds text far outside the window, and replaces it", async ({ page }) => {
  await openWithoutModel(page);
  const sentences = Array.from({ length: 400 }, (_, i) => `This is the sentence number ${i}.`);
  await setText(page, `${sentences.join("\n")}\nThe whale slept. Another whale woke.`);
  await text(page).press("Control+Home");
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
  await expect(count).toHaveText("0");
  await page.keyboard.press("Escape");
  await expect(find(page)).toHaveCount(0);
});

test("Ctrl + F opens the search also when another part of the page has the focus", async ({ page }) => {
  await openWithoutModel(page);
  await page.locator("#generate").focus();
  await page.keyboard.press("Control+f");
  await expect(find(page).getByPlaceholder("Find")).toBeFocused();
});

test("each paragraph has its own direction", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, "שלום עולם\nHello world\nمرحبا");
  const directions = page
    .locator("#editor .cm-line")
    .evaluateAll((lines) => lines.map((line) => getComputedStyle(line).direction));
  expect(await directions).toEqual(["rtl", "ltr", "rtl"]);
});

test("each paragraph has its own direction also in the plain field and in the fields beside the text", async ({
  page,
}) => {
  await openWithoutModel(page);
  await showView(page, "Sees");
  await page.getByLabel("Always remember").fill("שלום עולם\nHello world");
  for (const field of ["#draft", "#field-remember", "#field-note"])
    await expect(page.locator(field)).toHaveCSS("unicode-bidi", "plaintext");
  await expect(page.locator("#field-remember")).toHaveCSS("direction", "rtl");
});

test("in a low window the menu opens inside it, wherever its button is", async ({ page }) => {
  await page.setViewportSize({ width: 640, height: 256 });
  await openWithoutModel(page);
  const menu = page.locator("#menu");
  for (const block of ["start", "end"] as const) {
    await page.locator("#menu-button").evaluate((button, at) => button.scrollIntoView({ block: at }), block);
    await page.locator("#menu-button").press("Enter");
    await expect(menu).toBeInViewport({ ratio: 1 });
    await page.keyboard.press("End");
    await expect(menu.getByRole("button").last()).toBeInViewport({ ratio: 1 });
    await page.keyboard.press("Escape");
  }
});

test("pasting a clipboard with only HTML inserts its text", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, "");
  await text(page).evaluate((element) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/html", "<p>One <b>two</b></p><p>three</p>");
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  });
  expect(await textOf(page)).toBe("One two\nthree");
});

test("after Undo and Redo the last run can still be written again", async ({ page }) => {
  await open(page);
  await generate(page);
  const again = page.getByRole("button", { name: "Another" });
  await expect(again).toBeEnabled();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(again).toBeHidden();
  await page.getByRole("button", { name: "Redo" }).click();
  await expect(again).toBeEnabled();
});

test("on the stage a clicker continues the text, steps back and blanks the screen", async ({ page }) => {
  await open(page);
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator("html")).toHaveClass(/\bstage\b/);
  await page.keyboard.press("PageDown");
  await expectFinished(page);
  const written = await textOf(page);
  expect(written.length).toBeGreaterThan("Once upon a time".length);
  await page.keyboard.press("b");
  await expect(page.locator("main")).toBeHidden();
  await page.keyboard.press("b");
  await expect(page.locator("main")).toBeVisible();
  expect(await textOf(page)).toBe(written);
  await page.keyboard.press("PageUp");
  expect(await textOf(page)).toBe("Once upon a time");
  await page.keyboard.press("PageDown");
  expect(await textOf(page)).toBe(written); // the same passage, not a new one
});

for (const [width, height] of [
  [360, 740],
  [390, 844],
  [1024, 768],
  [1440, 900],
] as const) {
  test(`at ${width} px the buttons fit in one row in both languages, each large enough for a finger`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height });
    await open(page);
    await setOption(page, "Tokens", "12");
    await setOption(page, "Temperature", "3"); // so that each text is different
    await page.locator("#panel-close").click();
    await generate(page);
    await page.locator("#regenerate").click();
    await expect(page.locator("#alternative")).toHaveText("2/2", { timeout: 30_000 });
    for (const language of ["Deutsch", "English"]) {
      await page.locator("#language").selectOption(language);
      await expect(page.locator("#generate")).toHaveText(language === "English" ? "Write on" : "Weiter");
      const boxes = await page
        .locator("#bar button:visible")
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON() as DOMRect));
      expect(new Set(boxes.map(({ top }) => Math.round(top))).size, language).toBe(1);
      const least = width < 400 ? 44 : 40;
      expect(Math.min(...boxes.map((box) => Math.min(box.width, box.height)))).toBeGreaterThanOrEqual(least);
      expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThanOrEqual(width);
    }
  });
}

test("on a phone, an open panel keeps the buttons at the lower end, also where the page ends", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openWithoutModel(page);
  await setText(page, "A line.\n".repeat(40));
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await openSection(page, "options");
  const below = () =>
    page.locator("#dock").evaluate((dock) => Math.round(innerHeight - dock.getBoundingClientRect().bottom));
  expect(await below()).toBe(0);
  await page.locator("#panel").evaluate((panel) => panel.scrollTo(0, panel.scrollHeight));
  expect(await below()).toBe(0);
  await page.locator("#device summary").first().click();
});

test("on a phone each button of the panel and of the choice of models is large enough for a finger", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openWithoutModel(page);
  await page.locator("#chooser summary").click();
  await page.locator("#library-open").click();
  const sections = page.locator("#panel > details > summary");
  for (let section = 0; section < (await sections.count()); section += 1) {
    if (section > 0) await sections.nth(section).click();
    const sizes = await page.locator(":is(#chooser, #panel) button:visible").evaluateAll((all) =>
      all.map((each) => {
        const { width, height } = each.getBoundingClientRect();
        return [each.textContent, Math.min(width, height)] as const;
      }),
    );
    expect(sizes.length).toBeGreaterThan(5);
    expect(sizes.filter(([, size]) => size < 44)).toEqual([]);
  }
});

test("in German no share of a token breaks, and the row of search has buttons of different names", async ({
  page,
}) => {
  await open(page);
  await page.locator("#language").selectOption("Deutsch");
  await page.locator("#editor .cm-content").press("Alt+ArrowDown");
  const shares = page.locator("#token .alternative .share");
  await expect(shares).toHaveCount(10, { timeout: 20_000 });
  const heights = await shares.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
  expect(Math.max(...heights)).toBeLessThan(28);
  const overflows = await shares.evaluateAll((all) => all.map((each) => each.scrollWidth - each.clientWidth));
  expect(Math.max(...overflows)).toBeLessThanOrEqual(0);
  await page.keyboard.press("Escape");
  await page.locator("#editor .cm-content").press("Control+f");
  await expect(find(page).getByRole("button", { name: "Nächster", exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Weiter", exact: true })).toHaveCount(1);
  const top = (name: string) =>
    find(page)
      .locator(`[name=${name}]:visible`)
      .first()
      .evaluate((each) => Math.round(each.getBoundingClientRect().top));
  expect(await top("replaceAll")).toBe(await top("replace"));
  expect(await top("replace")).toBeGreaterThan(await top("next"));
});

test("Another keeps the previous text: buttons, arrow keys and a reload lead back to it", async ({
  page,
}) => {
  await open(page);
  await setOption(page, "Tokens", "8");
  await setOption(page, "Temperature", "2");
  await page.getByLabel("Ignore end of text").check();
  const place = page.locator("#alternative");
  const texts = [await generate(page)];
  await expect(place).toBeHidden();
  while (texts.length < 3) {
    await page.getByRole("button", { name: "Another" }).click();
    await expect(text(page)).toHaveAttribute("aria-busy", "false");
    const now = await textOf(page);
    if (!texts.includes(now)) texts.push(now);
  }
  await expect(place).toHaveText("3/3");
  await page.getByRole("button", { name: "Previous text" }).click();
  await expect(place).toHaveText("2/3");
  expect(await textOf(page)).toBe(texts[1]);
  await expect(page.locator("#finish")).toHaveText("Text 2 of 3.");
  await page.keyboard.press("ArrowLeft");
  await expect(page.getByRole("button", { name: "Previous text" })).toBeFocused();
  expect(await textOf(page)).toBe(texts[0]);
  await text(page).press("Alt+PageUp");
  expect(await textOf(page)).toBe(texts[2]);
  await page.keyboard.press("Control+Z");
  expect(await textOf(page)).toBe(texts[0]);
  await page.reload();
  await expectReady(page);
  await expect(place).toHaveText("1/3");
  await text(page).press("Alt+PageDown");
  expect(await textOf(page)).toBe(texts[1]);
  await page.getByRole("button", { name: "Write on" }).click();
  await expectFinished(page);
  await expect(place).toBeHidden(); // the caret is at another place
});

test("if Another writes the same text, the status says why and the count stays", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "8");
  await setOption(page, "Temperature", "0");
  const first = await generate(page);
  await page.getByRole("button", { name: "Another" }).click();
  await expect(page.locator("#finish")).toContainText("This is the same text again.", { timeout: 30_000 });
  expect(await textOf(page)).toBe(first);
  await expect(page.locator("#alternative")).toBeHidden();
});

test("the line under the title names the model, and offers GPT-2 itself with its size and speed", async ({
  page,
}) => {
  await open(page);
  const line = page.locator("#chooser summary");
  await expect(line).toHaveText(/Model:\s+demo: English children's stories, 12 million parameters/);
  await openSection(page, "device");
  await expect(page.locator("#model")).toHaveText("12 million parameters, q8"); // the line describes the loaded model
  const offer = page.locator("#model-offer");
  await expect(offer).toContainText("124 million parameters, 548 MB from huggingface.co");
  await page.getByRole("button", { name: "Use GPT-2 itself" }).focus();
  await expect(offer).toContainText(/about [\d,.]+ tokens\/s here/, { timeout: 20_000 });
  await page.route("https://huggingface.co/**", (route) => route.abort());
  await page.keyboard.press("Enter");
  await expect(page.locator("#hub-id")).toHaveValue("openai-community/gpt2");
  await expect(page.locator("#hub-status")).toContainText("huggingface.co cannot be reached");
});

test("the side panel opens at the right section, shows the preset's name, and returns the focus", async ({
  page,
}) => {
  await open(page);
  await expect(page.locator("#preset-shown")).toHaveText("Balanced");
  await page.locator("#preset-shown").press("Enter");
  await page.getByRole("button", { name: "Wild" }).click();
  await expect(page.locator("#preset-shown")).toHaveText("Wild");
  await expect(page.getByRole("button", { name: "Wild", exact: true })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await page.keyboard.press("Escape");
  await expect(page.locator("#panel")).toBeHidden();
  await expect(page.locator("#preset-shown")).toBeFocused();
  await page.locator("#menu-button").press("Enter");
  await expect(page.locator("#menu button").first()).toBeFocused();
  await page.getByRole("button", { name: "Share…" }).click();
  await expect(page.getByRole("button", { name: "Copy link" })).toBeVisible();
  await page.locator("#menu-button").press("Enter");
  await page.keyboard.press("Escape");
  await expect(page.locator("#menu")).toBeHidden();
  await expect(page.locator("#menu-button")).toBeFocused();
});
