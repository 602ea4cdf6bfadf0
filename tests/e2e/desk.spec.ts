// What a writer expects of a desk: search, direction of text, buttons in reach, the menu, the side panel, and the line of the model.
import { expect, test, type Page } from "@playwright/test";
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
  await expect(count).toHaveText("0");
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

test("the buttons fit in one row in both languages, each large enough for a finger", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "12");
  await setOption(page, "Temperature", "3"); // so that each text is different
  await page.locator("#panel-close").click();
  await generate(page);
  await page.locator("#regenerate").click();
  await expectIdle(page);
  await expect(page.locator("#alternative")).toHaveText("2/2", { timeout: 30_000 });
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
      const boxes = await page
        .locator("#bar button:visible")
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON() as DOMRect));
      expect(new Set(boxes.map(({ top }) => Math.round(top))).size, where).toBe(1);
      const least = Math.min(...boxes.map((box) => Math.min(box.width, box.height)));
      expect(least, where).toBeGreaterThanOrEqual(width < 400 ? 44 : 40);
      expect(Math.max(...boxes.map(({ right }) => right)), where).toBeLessThanOrEqual(width);
    }
  }
});

test("on a phone, an open panel leaves the buttons at the lower end; each of its buttons suits a finger", async ({
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

  await page.locator("#panel-close").click();
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
  await text(page).press("Alt+ArrowDown");
  const shares = page.locator("#token .alternative .share");
  await expect(shares).toHaveCount(10, { timeout: 20_000 });
  const heights = await shares.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
  expect(Math.max(...heights)).toBeLessThan(28);
  const overflows = await shares.evaluateAll((all) => all.map((each) => each.scrollWidth - each.clientWidth));
  expect(Math.max(...overflows)).toBeLessThanOrEqual(0);
  await page.keyboard.press("Escape");
  await text(page).press("Control+f");
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
  await openWithoutModel(page);
  await expect(page.locator("#preset-shown")).toHaveText("Balanced");
  await page.locator("#preset-shown").press("Enter");
  const wild = page.getByRole("button", { name: "Wild", exact: true });
  await wild.click();
  await expect(page.locator("#preset-shown")).toHaveText("Wild");
  await expect(wild).toHaveAttribute("aria-pressed", "true");
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
