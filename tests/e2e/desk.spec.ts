// What a writer expects of any text field: search, paste, direction, the focus, and a presenter's keys on the stage.
import { expect, test, type Page } from "@playwright/test";
import { generate, inEditor, open, setText, textOf } from "./page.js";

const text = (page: Page) => page.locator("#editor .cm-content");
const find = (page: Page) => page.locator(".cm-search");

test("after loading, typing goes into the text", async ({ page }) => {
  await open(page);
  await expect(text(page)).toBeFocused();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" there");
  expect(await textOf(page)).toBe("Once upon a time there");
});

test("Ctrl + F finds text far outside the window, and replaces it", async ({ page }) => {
  await open(page);
  const sentences = Array.from({ length: 400 }, (_, i) => `This is the sentence number ${i}.`);
  await setText(page, `${sentences.join("\n")}\nThe whale slept. Another whale woke.`);
  await text(page).press("Control+Home");
  await page.keyboard.press("Control+f");
  await expect(find(page).getByPlaceholder("Find")).toBeFocused();
  await page.keyboard.type("whale");
  await page.keyboard.press("Enter");
  const selected = () =>
    inEditor(page, ({ state }) => state.sliceDoc(state.selection.main.from, state.selection.main.to), null);
  await expect.poll(selected).toBe("whale");
  await expect(page.locator(".cm-searchMatch-selected")).toBeInViewport();
  await find(page).getByPlaceholder("Replace with").fill("cat");
  await find(page).getByRole("button", { name: "Replace all" }).click();
  expect(await textOf(page)).toMatch(/The cat slept\. Another cat woke\.$/);
  await page.keyboard.press("Escape");
  await expect(find(page)).toHaveCount(0);
});

test("Ctrl + F opens the search also where another part of the page has the focus", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "Generate", exact: true }).focus();
  await page.keyboard.press("Control+f");
  await expect(find(page).getByPlaceholder("Find")).toBeFocused();
});

test("each paragraph runs in its own direction", async ({ page }) => {
  await open(page);
  await setText(page, "שלום עולם\nHello world\nمرحبا");
  const directions = page
    .locator("#editor .cm-line")
    .evaluateAll((lines) => lines.map((line) => getComputedStyle(line).direction));
  expect(await directions).toEqual(["rtl", "ltr", "rtl"]);
});

test("a clipboard of HTML alone is pasted as its text", async ({ page }) => {
  await open(page);
  await setText(page, "");
  await text(page).evaluate((element) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/html", "<p>One <b>two</b></p><p>three</p>");
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  });
  expect(await textOf(page)).toBe("One two\nthree");
});

test("after Undo and Redo the last text can be written again", async ({ page }) => {
  await open(page);
  await generate(page);
  const again = page.getByRole("button", { name: "Regenerate" });
  await expect(again).toBeEnabled();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(again).toBeDisabled();
  await page.getByRole("button", { name: "Redo" }).click();
  await expect(again).toBeEnabled();
});

test("on the stage a clicker writes on, steps back and blanks the screen", async ({ page }) => {
  await open(page);
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator("html")).toHaveClass(/\bstage\b/);
  await page.keyboard.press("PageDown");
  await expect(page.locator("#finish")).toContainText("Seed", { timeout: 30_000 });
  const written = await textOf(page);
  expect(written.length).toBeGreaterThan("Once upon a time".length);
  await page.keyboard.press("b");
  await expect(page.locator("main")).toBeHidden();
  await page.keyboard.press("b");
  await expect(page.locator("main")).toBeVisible();
  expect(await textOf(page)).toBe(written);
  await page.keyboard.press("PageUp");
  expect(await textOf(page)).toBe("Once upon a time");
});
