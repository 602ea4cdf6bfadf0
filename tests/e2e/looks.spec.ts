// The page's other appearances: on a stage, on paper, in forced colours, without motion.
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible, violationsIn } from "./axe.js";
import {
  expectFinished,
  expectIdle,
  generate,
  generateAnew,
  hold,
  insertAt,
  open,
  openWithoutModel,
  press,
  setLength,
  setText,
  showView,
  startLongText,
  textOf,
} from "./page.js";

const text = (page: Page) => page.locator("#editor .cm-content");
const isStage = (page: Page) => page.evaluate(() => document.documentElement.classList.contains("stage"));

test.describe("on a stage", () => {
  test.use({ viewport: { width: 1920, height: 1080 } });

  test("the stage shows only the text, in large type, and all writing keys work", async ({ page }) => {
    await open(page);
    await setLength(page, "40"); // so that each run writes something
    await text(page).press("Alt+Enter");
    expect(await isStage(page)).toBe(true);
    await expect(text(page)).toBeFocused();
    const size = await text(page).evaluate((element) => parseFloat(getComputedStyle(element).fontSize));
    expect(size).toBeGreaterThan(40);
    for (const part of ["#chooser", "#openings", "#generate", "#options", "footer"])
      await expect(page.locator(part).first()).toBeHidden();
    await page.keyboard.press("Tab");
    await expect(page.locator(".suggestions li")).toHaveCount(3);
    await page.keyboard.press("Escape"); // dismisses the suggestions
    await expect(page.locator(".suggestions li")).toHaveCount(0);
    expect(await isStage(page)).toBe(true);

    await test.step("a clicker continues the text, steps back and blanks the screen", async () => {
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
      await page.keyboard.press("Control+Enter");
      await expectIdle(page);
      expect((await textOf(page)).length).toBeGreaterThan(written.length);
    });

    await expectAccessible(page);
    await test.step("Escape leaves the stage", async () => {
      await page.keyboard.press("Escape");
      expect(await isStage(page)).toBe(false);
      await expect(page.locator("#generate")).toBeVisible();
      await expect.poll(() => page.evaluate(() => document.fullscreenElement)).toBe(null);
    });
  });

  test("the button that leaves the stage has enough contrast", async ({ page }) => {
    // axe-core does not report this button.
    await openWithoutModel(page);
    await text(page).press("Alt+Enter");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const contrast = await page.locator("#stage-leave").evaluate((sign) => {
        const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
        const luminance = (color: number[]) => {
          const [r = 0, g = 0, b = 0] = color.map((each) =>
            each <= 10.31475 ? each / 3294.6 : ((each / 255 + 0.055) / 1.055) ** 2.4,
          );
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const { color, opacity } = getComputedStyle(sign);
        const paper = channels(getComputedStyle(document.body).backgroundColor);
        const seen = channels(color).map(
          (each, place) => each * Number(opacity) + (paper[place] ?? 0) * (1 - Number(opacity)),
        );
        const both = [luminance(seen), luminance(paper)];
        return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
      });
      expect(contrast, colorScheme).toBeGreaterThanOrEqual(4.5);
    }
  });

  test("Escape on the stage stops the model first, and then leaves the stage", async ({ page }) => {
    await open(page);
    await startLongText(page);
    await press(page, "stage");
    expect(await isStage(page)).toBe(true);
    await expect(text(page)).toHaveAttribute("aria-busy", "true");
    await page.keyboard.press("Escape");
    await expect(text(page)).toHaveAttribute("aria-busy", "false");
    expect(await isStage(page)).toBe(true);
    await page.getByRole("button", { name: "Leave the stage" }).click();
    expect(await isStage(page)).toBe(false);
    await expect(text(page)).toBeFocused();
  });

  test("the stage shows that the text waits for its model, and how far the download is", async ({ page }) => {
    const release = await hold(page, "**/models/demo/model.safetensors.*");
    await page.goto("./");
    await setText(page, "A cat. ".repeat(99)); // fills the stage
    await text(page).press("Alt+Enter");
    await expect(page.locator("#loading")).toBeVisible();
    await expect(page.locator("#state")).toBeHidden();
    await page.keyboard.press("Control+Enter");
    await expect(page.locator("#finish")).toContainText("Writing begins as soon as the model is loaded");
    for (const part of ["#generate", "#hint", "#speed"]) await expect(page.locator(part)).toBeHidden();
    release();
    await expectFinished(page);
    await expect(page.locator("#loading")).toBeHidden();
    const [written, status] = [page.locator("#editor .models").last(), page.locator("#finish")];
    const end = await written.evaluate((part) => part.getBoundingClientRect().bottom);
    expect(end).toBeLessThan((await status.boundingBox())?.y ?? 0); // the status covers no line
  });
});

test.describe("on paper", () => {
  test("print contains the whole text and nothing else, and marks the model's part without colour", async ({
    page,
  }) => {
    await open(page);
    await generateAnew(page);
    const lines = Array.from({ length: 400 }, (_, line) => `Line ${line}.`).join("\n");
    await insertAt(page, (await textOf(page)).length, `\n${lines}`);
    await expect(page.getByText("Line 399.")).toHaveCount(0); // it is far below the window
    await page.emulateMedia({ media: "print" });
    await expect(page.getByText("Line 399.")).toHaveCount(1);
    for (const part of ["header", "#chooser", "#openings", "#generate", "#state", "#options", "footer"])
      await expect(page.locator(part).first()).toBeHidden();
    const model = page.locator("#editor .models").first();
    await expect(model).toHaveCSS("text-decoration-style", "dotted");
    await expect(model).toHaveCSS("color", "rgb(0, 0, 0)");
  });

  test("a printed view shows its numbers beside the tokens, and explains them", async ({ page }) => {
    await open(page);
    await setText(page, "Once upon a time there was a little girl");
    await showView(page, "probability");
    const token = page.locator("#editor .token[data-number]");
    await expect(token.nth(3)).toBeVisible();
    await page.locator("#editor .cm-content").press("Alt+ArrowDown");
    await expect(page.locator("#token")).toBeVisible();
    const after = () =>
      token.first().evaluate((element) => getComputedStyle(element, "::after").getPropertyValue("content"));
    expect(await after()).toBe("none");
    await page.emulateMedia({ media: "print" });
    expect(await after()).toMatch(/^"(?:\d+|<1)"$/);
    await expect(page.getByText("The small numbers are percentages.")).toBeVisible();
    await expect(page.locator("#token")).toBeHidden();
  });
});

test("in forced colours the model's text, its place and the bars can still be distinguished", async ({
  page,
}) => {
  await page.emulateMedia({ forcedColors: "active" });
  await open(page);
  await startLongText(page);
  const pen = await page
    .locator("#editor .pen")
    .evaluate((element) => getComputedStyle(element, "::after").backgroundColor);
  const canvas = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(pen).not.toBe(canvas);
  await page.keyboard.press("Escape");
  await expect(page.locator("#editor .models").first()).toHaveCSS("text-decoration-line", "underline");
  await press(page, "find");
  await page.keyboard.type("a");
  await expect(page.locator("#editor .cm-searchMatch").first()).toHaveCSS("outline-style", /dashed|solid/);
  await showView(page, "probability");
  await expect(page.locator("#tab-text")).toHaveCSS("border-bottom-color", canvas);
  await page.locator("#editor .cm-content").press("Alt+ArrowDown");
  const bar = page.locator("#token .bar span").first();
  await expect(bar).toBeVisible();
  expect(await bar.evaluate((element) => getComputedStyle(element).backgroundColor)).not.toBe(canvas);
});

test("with more contrast requested, text has a contrast of at least 7:1, and axe finds no problem", async ({
  page,
}) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ contrast: "more", colorScheme });
    await open(page);
    await generate(page);
    const violations = await violationsIn(page, {
      runOnly: ["color-contrast-enhanced"],
      rules: { "color-contrast-enhanced": { enabled: true } },
    });
    const found = violations.flatMap(({ nodes }) => nodes.map(({ target }) => target.join(" ")));
    expect(found, colorScheme).toEqual([]);
  }
});

test("with reduced motion nothing on the page moves by itself", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await open(page);
  await startLongText(page);
  const running = await page.evaluate(() =>
    document
      .getAnimations()
      .filter(({ playState }) => playState === "running")
      .map((animation) => (animation instanceof CSSAnimation ? animation.animationName : "transition")),
  );
  expect(running).toEqual([]);
});
