// The writing surface: one text of the visitor and the model, with one history.
import { expect, test, type Page } from "@playwright/test";
import {
  expectFinished,
  expectGrowth,
  expectIdle,
  expectReady,
  generate,
  hold,
  modelsText,
  open,
  openWithoutModel,
  press,
  setCaret,
  setLength,
  setOption,
  setText,
  startLongText,
  takeRequests,
  textOf,
  watchRequests,
  writeOn,
} from "./page.js";

const text = (page: Page) => page.getByRole("textbox", { name: "Text" });
const another = (page: Page) => page.getByRole("button", { name: "Another" });
const undo = (page: Page) => page.getByRole("button", { name: "Undo" });

/** Generates a few tokens, which the model cannot end. */
async function writeFew(page: Page): Promise<string> {
  await setLength(page, "8");
  return generate(page);
}

test("after a press with the mouse, keys go to the text; a key leaves the focus at the button", async ({
  page,
}) => {
  await open(page);
  await setLength(page, "8");
  const button = page.locator("#generate");
  await button.click();
  await expectIdle(page);
  await page.keyboard.type("!");
  expect(await textOf(page)).toMatch(/!$/);
  await undo(page).click();
  await page.keyboard.type("?");
  expect(await textOf(page)).toMatch(/[^!]\?$/);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("button", { name: "at the end" }).click();
  await expectIdle(page);
  await expect(text(page)).toBeFocused();
  await button.focus();
  await page.keyboard.press("Enter");
  await expectIdle(page);
  await expect(button).toBeFocused();
});

test("the visitor's and the model's text look different, and are undone separately", async ({ page }) => {
  await open(page);
  await expect(text(page)).toBeFocused();
  await setOption(page, "Temperature", "0"); // the same text each time: its last word has several letters
  await text(page).press("Control+End");
  await page.keyboard.type(" there was");
  const whole = await writeFew(page);
  const begun = "Once upon a time there was";
  expect(begun + (await modelsText(page))).toBe(whole);
  await text(page).focus();
  await page.keyboard.type(" Oh");
  expect(await textOf(page)).toBe(`${whole} Oh`); // the caret moved along
  expect(begun + (await modelsText(page))).toBe(whole);
  await page.keyboard.press("Control+Z");
  expect(await textOf(page)).toBe(whole);
  await page.keyboard.press("Control+Z");
  expect(await textOf(page)).toBe(begun);
  await expect(page.locator("#finish")).toBeEmpty(); // the status belongs to the text
  await page.getByRole("button", { name: "Redo" }).click();
  expect(await textOf(page)).toBe(whole);
  expect(begun + (await modelsText(page))).toBe(whole); // the text is the model's again

  // Edited text becomes the visitor's, until the edit is undone.
  await setCaret(page, whole.length - 1);
  await text(page).press("Backspace");
  expect((begun + (await modelsText(page))).length).toBeLessThan(whole.length - 1);
  await undo(page).click();
  expect(begun + (await modelsText(page))).toBe(whole);

  await text(page).press("Control+A");
  await page.keyboard.press("Delete");
  await expect(page.locator("#finish")).toBeEmpty();
  await expect(page.locator("#speed")).toBeEmpty();
});

test("the model continues at the caret and keeps the text after it; Continue continues at the end", async ({
  page,
}) => {
  await open(page);
  await setText(page, "Tom had a dog. The end");
  await setCaret(page, "Tom had a dog.".length);
  const whole = await writeFew(page);
  expect(whole).toMatch(/^Tom had a dog\..+ The end$/s);
  await press(page, "continue");
  await expect.poll(() => textOf(page)).toMatch(/ The end.+$/s);
});

test("Another keeps the previous text: buttons, arrow keys, Undo and a reload lead back to it", async ({
  page,
}) => {
  await open(page);
  await setOption(page, "Temperature", "3"); // so that each text is different
  const place = page.locator("#alternative");
  const texts = [await writeFew(page)];
  await expect(place).toBeHidden();
  await undo(page).click();
  await expect(another(page)).toBeHidden();
  await page.getByRole("button", { name: "Redo" }).click();
  while (texts.length < 3) {
    await another(page).click();
    await expectIdle(page);
    const now = await textOf(page);
    expect(now.startsWith("Once upon a time")).toBe(true);
    if (!texts.includes(now)) texts.push(now);
  }
  await expect(place).toHaveText("3/3");
  await undo(page).click();
  expect(await textOf(page)).toBe(texts[1]);
  await expect(place).toHaveText("2/3");
  await page.getByRole("button", { name: "Redo" }).click();
  await page.getByRole("button", { name: "Previous text" }).click();
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

  await setOption(page, "Temperature", "0");
  const longer = await generate(page);
  await expect(place).toBeHidden(); // the caret is at another place
  await another(page).click();
  await expect(page.locator("#finish")).toContainText("This is the same text again.");
  expect(await textOf(page)).toBe(longer);
  await expect(place).toBeHidden();
});

test("you can type elsewhere while the model writes, and Undo stops it", async ({ page }) => {
  await open(page);
  await startLongText(page);
  await setCaret(page, 0);
  await text(page).focus();
  await page.keyboard.type("Well! ", { delay: 20 });
  expect((await textOf(page)).startsWith("Well! Once upon a time")).toBe(true);
  await expectGrowth(page, 50);
  await page.keyboard.press("Control+Z");
  await expect(page.locator("#finish")).toContainText("Stopped,");
  await expectIdle(page);
});

test("text typed while the model loads is part of what it continues", async ({ page }) => {
  await watchRequests(page);
  const arrive = await hold(page, "**/model.safetensors.001");
  await page.goto("./");
  await expect(page.locator("#editor .cm-content")).toBeVisible(); // the field before it has the same name
  await text(page).press("Control+End");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator("#finish")).toContainText("as soon as the model is loaded");
  await page.keyboard.type(" there lived");
  arrive();
  await expectFinished(page);
  const asked = (await takeRequests(page)).filter(({ name }) => name === "generate");
  expect(asked.map(({ prompt }) => prompt)).toEqual(["Once upon a time there lived"]);
  expect(await textOf(page)).toMatch(/^Once upon a time there lived./s);
});

test("pasted text is inserted as plain text, also from a clipboard with only HTML", async ({ page }) => {
  await openWithoutModel(page);
  const paste = async (content: Record<string, string>) => {
    await text(page).press("Control+A");
    await text(page).evaluate((element, data) => {
      const clipboardData = new DataTransfer();
      for (const [type, value] of Object.entries(data)) clipboardData.setData(type, value);
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, content);
  };
  await paste({ "text/html": "<h1>Loud</h1><b>bold</b>", "text/plain": "Loud bold" });
  expect(await textOf(page)).toBe("Loud bold");
  await paste({ "text/html": "<p>One <b>two</b></p><p>three</p>" });
  expect(await textOf(page)).toBe("One two\nthree");
  await expect(page.locator("#editor :is(h1, b)")).toHaveCount(0);
});

test("the editor takes over text, caret and focus of the field that precedes it", async ({ page }) => {
  const arrive = await hold(page, "**/assets/after-paint-*.js");
  await page.goto("./?model=none", { waitUntil: "commit" });
  const field = page.locator("textarea#draft");
  await expect(page.locator("#generate")).toBeEnabled();
  await field.fill("Before the editor");
  await field.press("ArrowLeft");
  arrive();
  await expect(page.locator("#editor .cm-content")).toBeFocused();
  await expect(field).toBeHidden();
  await page.keyboard.type("!");
  expect(await textOf(page)).toBe("Before the edito!r");
});

test("an editor that cannot be loaded is reported, and the text stays", async ({ page }) => {
  await page.route("**/assets/after-paint-*.js", (route) => route.abort());
  await page.goto("./");
  await page.locator("textarea#draft").fill("Still here");
  await writeOn(page);
  await expect(page.getByRole("alert")).toContainText("The editor could not be loaded");
  await page.unroute("**/assets/after-paint-*.js");
  await page.getByRole("button", { name: "Load the page again" }).click();
  await expectReady(page);
  expect(await textOf(page)).toBe("Still here");
});
