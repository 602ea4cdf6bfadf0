// The writing surface: one text of the visitor and the model, with one history.
import { expect, test, type Page } from "@playwright/test";
import {
  expectFinished,
  expectReady,
  generate,
  hold,
  inEditor,
  open,
  openWithoutModel,
  press,
  setOption,
  setText,
  startLongText,
  textOf,
  writeOn,
} from "./page.js";

const text = (page: Page) => page.getByRole("textbox", { name: "Text" });
const models = async (page: Page) => (await page.locator("#editor .models").allTextContents()).join("");
const setCaret = (page: Page, offset: number) =>
  inEditor(page, (view, anchor) => view.dispatch({ selection: { anchor } }), offset);

/** Generates a few tokens, which the model cannot end. */
async function writeFew(page: Page): Promise<string> {
  await setOption(page, "Tokens", "8");
  await page.getByLabel("Ignore end of text").check();
  return generate(page);
}

test("the status of a text disappears with Undo, and with the text", async ({ page }) => {
  await open(page);
  await writeFew(page);
  await expect(page.locator("#finish")).toContainText("Finished");
  await text(page).press("Control+Z");
  await expect(page.locator("#finish")).toBeEmpty();
  await writeFew(page);
  await text(page).press("Control+A");
  await page.keyboard.press("Delete");
  await expect(page.locator("#finish")).toBeEmpty();
  await expect(page.locator("#speed")).toBeEmpty();
});

test("the visitor's and the model's text look different, and are undone separately", async ({ page }) => {
  await open(page);
  await text(page).press("Control+End");
  await page.keyboard.type(" there was");
  const whole = await writeFew(page);
  const begun = "Once upon a time there was";
  expect(begun + (await models(page))).toBe(whole);
  await text(page).focus();
  await page.keyboard.type(" Oh");
  expect(await textOf(page)).toBe(`${whole} Oh`); // the caret moved along
  expect(begun + (await models(page))).toBe(whole);
  await page.keyboard.press("Control+Z");
  expect(await textOf(page)).toBe(whole);
  await page.keyboard.press("Control+Z");
  expect(await textOf(page)).toBe(begun);
  await page.getByRole("button", { name: "Redo" }).click();
  expect(await textOf(page)).toBe(whole);
  expect(begun + (await models(page))).toBe(whole); // the text is the model's again

  // Edited text becomes the visitor's, until the edit is undone.
  await setCaret(page, whole.length - 1);
  await text(page).press("Backspace");
  expect((begun + (await models(page))).length).toBeLessThan(whole.length - 1);
  await page.getByRole("button", { name: "Undo" }).click();
  expect(begun + (await models(page))).toBe(whole);
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

test("Another replaces the last run, and undo brings it back", async ({ page }) => {
  await open(page);
  await setOption(page, "Temperature", "3"); // so that each text is different
  const first = await writeFew(page);
  await page.getByRole("button", { name: "Another" }).click();
  await expect.poll(() => textOf(page)).not.toBe(first);
  await expect(page.locator("#editor .cm-content")).toHaveAttribute("aria-busy", "false");
  const second = await textOf(page);
  expect(second).not.toBe(first);
  expect(second.startsWith("Once upon a time")).toBe(true);
  await page.getByRole("button", { name: "Undo" }).click();
  expect(await textOf(page)).toBe(first);
});

test("you can type elsewhere while the model writes, and Undo stops it", async ({ page }) => {
  await open(page);
  await startLongText(page);
  await setCaret(page, 0);
  await text(page).focus();
  await page.keyboard.type("Well! ", { delay: 20 });
  expect((await textOf(page)).startsWith("Well! Once upon a time")).toBe(true);
  const length = (await textOf(page)).length;
  await expect.poll(async () => (await textOf(page)).length).toBeGreaterThan(length + 50);
  await page.keyboard.press("Control+Z");
  await expect(page.locator("#finish")).toContainText("Stopped,");
  await expect(page.locator("#editor .cm-content")).toHaveAttribute("aria-busy", "false");
});

test("text typed while the model loads is part of what it continues", async ({ page }) => {
  await page.addInitScript(() => {
    const prompts: unknown[] = [];
    Object.assign(window, { prompts });
    const post = Reflect.get(Worker.prototype, "postMessage") as (...parts: unknown[]) => void;
    Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: never[]) {
      const { name, args } = message as { name?: string; args?: { prompt?: unknown } };
      if (name === "generate") prompts.push(args?.prompt);
      post.call(this, message, ...rest);
    };
  });
  const arrive = await hold(page, "**/model.safetensors.001");
  await page.goto("./");
  await expect(page.locator("#editor .cm-content")).toBeVisible(); // the field before it has the same name
  await text(page).press("Control+End");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator("#finish")).toContainText("as soon as the model is loaded");
  await page.keyboard.type(" there lived");
  arrive();
  await expectFinished(page);
  const prompts = await page.evaluate(() => (window as unknown as { prompts: unknown[] }).prompts);
  expect(prompts).toEqual(["Once upon a time there lived"]);
  expect(await textOf(page)).toMatch(/^Once upon a time there lived./s);
});

test("pasted text is inserted as plain text", async ({ page }) => {
  await openWithoutModel(page);
  await text(page).press("Control+A");
  await text(page).evaluate((element) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/html", "<h1>Loud</h1><b>bold</b>");
    clipboardData.setData("text/plain", "Loud bold");
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  });
  expect(await textOf(page)).toBe("Loud bold");
  await expect(page.locator("#editor :is(h1, b)")).toHaveCount(0);
});

test("nothing moves while the model writes", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await open(page);
  await setOption(page, "Tokens", "150");
  await page.getByLabel("Ignore end of text").check();
  await text(page).press("Control+End");
  await page.evaluate(() => {
    const moved: string[] = [];
    Object.assign(window, { moved });
    interface Shift extends PerformanceEntry {
      sources: { node: Node | null }[];
    }
    new PerformanceObserver((list) => {
      for (const { node } of (list.getEntries() as Shift[]).flatMap(({ sources }) => sources)) {
        const element = node instanceof Element ? node : node?.parentElement;
        // The mark where the model writes may move on, and removed elements do not count.
        if (element && !element.closest(".pen")) moved.push(element.outerHTML.slice(0, 100));
      }
    }).observe({ type: "layout-shift" });
  });
  await page.keyboard.press("Control+Enter");
  await expectFinished(page);
  expect(await page.evaluate(() => (window as unknown as { moved: string[] }).moved)).toEqual([]);
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
