// What else types into the text: an input method, and a keyboard on the screen, which covers a part of the page.
import { expect, test, type Page } from "@playwright/test";
import { inEditor, open, setText } from "./page.js";

const text = (page: Page) => page.locator("#editor .cm-content");

test("the dock is above a keyboard that covers the page, and so is the caret", async ({ page }) => {
  await page.addInitScript(() => {
    const seen = { width: innerWidth, height: innerHeight, offsetLeft: 0, offsetTop: 0, scale: 1 };
    Object.defineProperty(window, "visualViewport", { value: Object.assign(new EventTarget(), seen) });
  });
  await page.setViewportSize({ width: 390, height: 800 });
  await open(page);
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
  await see({ offsetTop: 120 }, "scroll"); // its reader moves within the page
  expect(await dockEnd()).toBe(620);
  await see({ height: 400, offsetTop: 0, scale: 2 }, "resize"); // zoomed in
  expect(await dockEnd()).toBe(800);
  await see({ height: 800, scale: 1 }, "resize");
  expect(await dockEnd()).toBe(800);
});
