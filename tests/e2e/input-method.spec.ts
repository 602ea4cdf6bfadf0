// Other ways to type: an input method, and an on-screen keyboard, which covers a part of the page.
import { expect, test, type CDPSession, type Page } from "@playwright/test";
import {
  expectGrowth,
  inEditor,
  open,
  openWithoutModel,
  setCaret,
  setText,
  startLongText,
  textOf,
} from "./page.js";

const text = (page: Page) => page.locator("#editor .cm-content");

/** Shows the composed text so far, as an input method does. */
const compose = (cdp: CDPSession, shown: string) =>
  cdp.send("Input.imeSetComposition", {
    text: shown,
    selectionStart: shown.length,
    selectionEnd: shown.length,
  });

/** Replaces the composed text by the chosen text. */
const commit = (cdp: CDPSession, chosen: string) => cdp.send("Input.insertText", { text: chosen });

const steps = ["ｎ", "に", "にｈ", "にほ", "にほｎ", "にほん"];

test("text composed with an input method is inserted once and undone as one step", async ({ page }) => {
  await openWithoutModel(page);
  await expect(text(page)).toHaveAttribute("spellcheck", "true"); // by the browser's local dictionary only
  await expect(page.locator("#editor")).toHaveAttribute("lang", "");
  await setText(page, "Once. Then");
  await text(page).focus();
  await setCaret(page, 5);
  const cdp = await page.context().newCDPSession(page);
  for (const shown of steps) {
    await compose(cdp, shown);
    await expect.poll(() => textOf(page)).toBe(`Once.${shown} Then`);
  }
  await commit(cdp, "日本");
  await expect.poll(() => textOf(page)).toBe("Once.日本 Then");
  await page.keyboard.press("Control+Z");
  expect(await textOf(page)).toBe("Once. Then");
  await page.keyboard.press("Control+Y");
  await page.keyboard.type("!");
  expect(await textOf(page)).toBe("Once.日本! Then");
  await compose(cdp, "に");
  await compose(cdp, ""); // cancelled
  await expect.poll(() => textOf(page)).toBe("Once.日本! Then");
  expect(await text(page).innerText()).toBe("Once.日本! Then");
});

test("during a composition the input method handles Tab, and nothing is suggested", async ({ page }) => {
  await open(page);
  await text(page).press("Control+End");
  const cdp = await page.context().newCDPSession(page);
  await compose(cdp, "に");
  // 229 is the key code that browsers report for a key that the input method handles.
  const key = { key: "Tab", code: "Tab", windowsVirtualKeyCode: 229 };
  await cdp.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...key });
  await cdp.send("Input.dispatchKeyEvent", { type: "keyUp", ...key });
  await compose(cdp, "日本");
  await commit(cdp, "日本");
  await expect.poll(() => textOf(page)).toBe("Once upon a time日本");
  await expect(page.locator("#finish")).toHaveText("");
  await expect(page.locator(".suggestions")).toHaveCount(0);
  await expect(text(page)).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.locator(".suggestions")).toBeVisible();
});

test("text composed while the model writes is neither doubled nor lost", async ({ page }) => {
  await open(page);
  await setText(page, "A short text. ");
  await startLongText(page);
  await text(page).press("Control+Home");
  const cdp = await page.context().newCDPSession(page);
  let expected = "";
  for (const chosen of ["日本", "東京", "京都"]) {
    for (const shown of steps) {
      await compose(cdp, shown);
      await expect.poll(async () => (await textOf(page)).startsWith(`${expected}${shown}A short`)).toBe(true);
    }
    await expectGrowth(page, 20); // the model keeps writing
    await commit(cdp, chosen);
    expected += chosen;
    await expect.poll(async () => (await textOf(page)).startsWith(`${expected}A short text. `)).toBe(true);
  }
  await page.keyboard.press("Escape");
  await expect(page.locator("#finish")).toContainText("Stopped,");
  const all = await textOf(page);
  expect(all.lastIndexOf("日本")).toBe(0);
  expect((await text(page).innerText()).startsWith(`${expected}A short text. `)).toBe(true);
});

test("a composition where the model writes is not cut off; it stays whole, whether it or the model ends first", async ({
  page,
}) => {
  await open(page);
  await setText(page, "A short text. ");
  await startLongText(page);
  await text(page).press("Control+End");
  const cdp = await page.context().newCDPSession(page);
  for (const shown of steps) {
    await compose(cdp, shown);
    await expect.poll(async () => (await textOf(page)).endsWith(shown)).toBe(true);
    await page.evaluate(
      () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
    );
  }
  await commit(cdp, "日本");
  await expectGrowth(page, 20); // the model keeps writing
  await page.keyboard.press("Escape");
  await expect(page.locator("#finish")).toContainText("Stopped,");
  expect(await textOf(page)).toMatch(/^A short text\. [^ｎｈにほん]*日本$/);

  await setText(page, "A short text. ");
  await startLongText(page);
  await text(page).press("Control+End");
  await compose(cdp, "か");
  await compose(cdp, "かん");
  await expect.poll(async () => (await textOf(page)).endsWith("かん")).toBe(true);
  await page.locator("#generate").evaluate((button: HTMLButtonElement) => button.click()); // the focus stays in the text
  await expect(page.locator("#finish")).toContainText("Stopped,");
  await compose(cdp, "かんじ");
  await commit(cdp, "感じ");
  await expect.poll(() => textOf(page)).toContain("感じ");
  await expect.poll(() => inEditor(page, (view) => view.composing, null)).toBe(false);
  const whole = await textOf(page);
  expect(whole).toMatch(/^A short text\. [^かんじ感]*感じ[^かんじ感]*$/);
  // The document contains only those lines of a long text that are near the window.
  await expect(text(page).locator(".cm-line").last()).toHaveText(whole.split("\n").at(-1) ?? "");
});

test("the dock and the caret stay above an on-screen keyboard that covers the page", async ({ page }) => {
  await page.addInitScript(() => {
    const seen = { width: innerWidth, height: innerHeight, offsetLeft: 0, offsetTop: 0, scale: 1 };
    Object.defineProperty(window, "visualViewport", { value: Object.assign(new EventTarget(), seen) });
  });
  await page.setViewportSize({ width: 390, height: 800 });
  await openWithoutModel(page);
  await setText(page, "A line.\n".repeat(80));
  await text(page).press("Control+Home");
  const see = (part: Partial<VisualViewport>, event: "resize" | "scroll") =>
    page.evaluate(
      ([changed, name]) => {
        Object.assign(window.visualViewport ?? {}, changed);
        window.visualViewport?.dispatchEvent(new Event(name));
      },
      [part, event] as const,
    );
  const dockEnd = () =>
    page.locator("#dock").evaluate((dock) => Math.round(dock.getBoundingClientRect().bottom));
  expect(await dockEnd()).toBe(800);
  await see({ height: 500 }, "resize");
  expect(await dockEnd()).toBe(500);
  for (let line = 0; line < 25; line += 1) await page.keyboard.press("ArrowDown");
  const caretToDock = () =>
    inEditor(
      page,
      (view) => {
        const dock = document.getElementById("dock")?.getBoundingClientRect().top ?? 0;
        return dock - (view.coordsAtPos(view.state.selection.main.head)?.bottom ?? Infinity);
      },
      null,
    );
  await expect.poll(caretToDock).toBeGreaterThan(0);
  await see({ offsetTop: 120 }, "scroll"); // the reader has scrolled
  expect(await dockEnd()).toBe(620);
  await see({ height: 400, offsetTop: 0, scale: 2 }, "resize"); // zoomed in
  expect(await dockEnd()).toBe(800);
  await see({ height: 800, scale: 1 }, "resize");
  expect(await dockEnd()).toBe(800);
});
