// Presses, keys and typing while suggestions grow. The test answers in place of the model.
import { devices, expect, test, type Page } from "@playwright/test";
import { inEditor, open, setText, textOf } from "./page.js";

const text = (page: Page) => page.getByRole("textbox", { name: "Text" });
const list = (page: Page) => page.getByRole("listbox", { name: "Suggestions" });
const options = (page: Page) => list(page).getByRole("option");
const bar = (page: Page) => page.getByRole("group", { name: "Suggestions" });
const begun = "Once upon a time, there was";

interface Asked {
  worker: Worker;
  id: number;
}

/** Intercepts requests for suggestions. */
const answerByHand = (page: Page) =>
  page.addInitScript(() => {
    const asked: Asked[] = [];
    Object.assign(window, { asked });
    const post = Reflect.get(Worker.prototype, "postMessage") as (...parts: unknown[]) => void;
    Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: never[]) {
      const { id, name, args } = message as {
        id: number;
        name?: string;
        args?: { options?: { n?: number } };
      };
      if (name === "generate" && args?.options?.n === 3) asked.push({ worker: this, id });
      else post.call(this, message, ...rest);
    };
  });

const timesAsked = (page: Page) =>
  page.evaluate(() => (window as unknown as { asked: Asked[] }).asked.length);

/** Answers the last request. */
const answer = (page: Page, part: object) =>
  page.evaluate((sent) => {
    const { worker, id } = (window as unknown as { asked: Asked[] }).asked.at(-1) ?? {};
    worker?.dispatchEvent(new MessageEvent("message", { data: { id, ...sent } }));
  }, part);

/** Writes a token of each continuation. A word is shown when the next begins. */
const write = (page: Page, ...texts: string[]) =>
  answer(page, {
    type: "event",
    event: { tokens: texts.map((text, index) => ({ text, index, id: 0, logprob: -1, rank: 1 })) },
  });

/** Opens the page with the caret after `begun`, requests suggestions, and waits until they grow. */
async function beginToGrow(page: Page, ask = () => page.keyboard.press("Tab")): Promise<void> {
  await answerByHand(page);
  await open(page);
  await setText(page, begun);
  await text(page).press("Control+End");
  await ask();
  await expect.poll(() => timesAsked(page)).toBe(1);
  await write(page, " a", " the", " one");
  await write(page, " big", " end", " day");
}

async function centerOf(page: Page, name: string): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await page.getByText(name, { exact: true }).boundingBox()) ?? {};
  if (x === undefined || y === undefined) throw new Error(`${name} is not shown`);
  return { x: x + (width ?? 0) / 2, y: y + (height ?? 0) / 2 };
}

test.describe("the list", () => {
  test("a press takes the suggestion on which it began, even if the list has grown", async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 1000 });
    await beginToGrow(page);
    await expect(options(page)).toHaveText(["a", "the", "one"]);
    const { x, y } = await centerOf(page, "the");
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let word = 0; word < 4; word += 1) await write(page, " extraordinarily", " of", " in");
    await expect(options(page).nth(1)).toHaveText("the end of of of");
    const moved = await centerOf(page, "the end of of of");
    expect(moved.y).toBeGreaterThan(y + 15); // as the line above has broken
    await page.mouse.up();
    expect(await textOf(page)).toBe(`${begun} the end of of of`);
    await expect(text(page)).toBeFocused();
    await expect(options(page)).toHaveCount(0);
  });

  test("a press that ends outside its suggestion takes nothing", async ({ page }) => {
    await beginToGrow(page);
    const { x, y } = await centerOf(page, "the");
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 300, y - 200);
    await page.mouse.up();
    expect(await textOf(page)).toBe(begun);
    // A press without a pointer, as from a screen reader, takes the pressed suggestion.
    await options(page).nth(2).dispatchEvent("click");
    expect(await textOf(page)).toBe(`${begun} one`);
  });
});

test.describe("the bar on a touch device", () => {
  const { isMobile, hasTouch, viewport } = devices["Pixel 5"];
  test.use({ isMobile, hasTouch, viewport });

  const buttons = (page: Page) => bar(page).getByRole("button");
  const askInBar = (page: Page) => () => bar(page).getByRole("button", { name: "Suggest words" }).tap();

  test("in the bar, a press takes the suggestion on which it began, and none moves meanwhile", async ({
    page,
  }) => {
    await beginToGrow(page, askInBar(page));
    await expect(buttons(page)).toHaveText(["a", "the", "one"]);
    const places = () =>
      buttons(page).evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON()));
    const before = await places();
    const { x, y } = await centerOf(page, "the");
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let word = 0; word < 4; word += 1) await write(page, " extraordinarily", " of", " in");
    await expect(buttons(page).nth(1)).toHaveText("the end of of of");
    expect(await places()).toEqual(before);
    await page.mouse.up();
    expect(await textOf(page)).toBe(`${begun} the end of of of`);
    await expect.poll(() => timesAsked(page)).toBe(2);
  });

  test("in the bar, arrows and Enter act on the text, and Tab takes the marked suggestion", async ({
    page,
  }) => {
    await beginToGrow(page, askInBar(page));
    const marked = bar(page).locator("[aria-current=true]");
    await expect(marked).toHaveText("a");
    const [width, others] = await buttons(page).evaluateAll((all) =>
      all.map((each) => getComputedStyle(each).borderTopWidth),
    );
    expect(width).not.toBe(others);
    await page.keyboard.press("Tab");
    expect(await textOf(page)).toBe(`${begun} a`);
    await page.keyboard.press("Enter");
    expect(await textOf(page)).toBe(`${begun} a\n`);
    await bar(page).getByRole("button", { name: "Suggest words" }).tap();
    await expect.poll(() => timesAsked(page)).toBe(2);
    await write(page, "A", "The", "One");
    await write(page, " big", " end", " day");
    await expect(marked).toHaveText("A");
    await page.keyboard.press("ArrowUp");
    expect(
      await inEditor(page, ({ state }) => state.doc.lineAt(state.selection.main.head).number, null),
    ).toBe(1);
    await expect(buttons(page)).toHaveText(["Suggest words"]);
  });
});
