// The text is stored on the device, and every way back to the page brings it back.
import { expect, test, type Page } from "@playwright/test";
import {
  expectEditor,
  expectReady,
  generate,
  hold,
  inEditor,
  linkTo,
  modelsText,
  open,
  openSection,
  openWithoutModel,
  seedOf,
  setCaret,
  setOption,
  setText,
  textOf,
  withoutModel,
} from "./page.js";
import { expectStored, storedTexts } from "./stored-texts.js";

const story = "A cat sat here.";

/** Each leaves the page and comes back to it. */
const waysBack: Record<string, (page: Page) => Promise<unknown>> = {
  "a reload without an event, as after a crash": async (page) => {
    const seeds = async () => (await storedTexts(page)).map(({ options }) => options?.seed);
    await expect.poll(seeds).toContain(42);
    await page.evaluate(() => {
      addEventListener("pagehide", (event) => event.stopImmediatePropagation(), { capture: true });
    });
    await page.reload();
  },
  "a reload": (page) => page.reload(),
  "the address, typed in the same tab": (page) => page.goto("./"),
  "the address of index.html": (page) => page.goto("./index.html"),
  "an address with settings": (page) => page.goto("./?weights=q8"),
  "a link to a view": (page) => page.goto("about:blank").then(() => page.goto("./#view=tokens")),
  "going back": (page) => page.goto("about:blank").then(() => page.goBack()),
};

test("every way back to the page restores the text, the undo history and the options", async ({
  page,
  context,
}) => {
  await openWithoutModel(page);
  await setText(page, story);
  await setOption(page, "Temperature", "0.3");
  await setOption(page, "Stop at", "\\n");
  await page.getByLabel("Ignore end of text").check();
  await setOption(page, "Seed", "42");
  const expectRestored = async (tab: Page, way: string) => {
    await expectEditor(tab);
    expect.soft(await textOf(tab), way).toBe(story);
    await expect.soft(tab.locator("#option-seed"), way).toHaveValue("42");
    await expect.soft(tab.locator("#option-temperature"), way).toHaveValue("0.3");
    await expect.soft(tab.getByLabel("Stop at"), way).toHaveValue("\\n");
    await expect.soft(tab.getByLabel("Ignore end of text"), way).toBeChecked();
    await tab.getByRole("button", { name: "Undo" }).click();
    expect.soft(await textOf(tab), way).toBe("Once upon a time");
    await tab.getByRole("button", { name: "Redo" }).click();
    expect.soft(await textOf(tab), way).toBe(story);
  };
  for (const [way, comeBack] of Object.entries(waysBack)) {
    await comeBack(page);
    await expectRestored(page, way);
  }
  await page.close({ runBeforeUnload: true });
  const next = await context.newPage();
  await next.goto("./");
  await expectRestored(next, "another tab, once this one is closed");
});

test("a reload keeps who wrote the text, the caret, the last seed, and what Another replaces", async ({
  page,
}) => {
  await open(page);
  await setText(page, "A cat sat");
  await setOption(page, "Tokens", "8");
  const text = await generate(page);
  const seed = await seedOf(page);
  const models = await modelsText(page);
  expect(models.length).toBeGreaterThan(10);
  await expectStored(page, text); // before that, a reload restores the text alone
  await setCaret(page, 4);
  await page.reload();
  await expectReady(page);
  expect(await textOf(page)).toBe(text);
  await expect.poll(() => modelsText(page)).toBe(models);
  expect(await inEditor(page, ({ state }) => state.selection.main.head, null)).toBe(4);
  await openSection(page, "options");
  await page.getByRole("button", { name: "Same again" }).click();
  await expect(page.getByLabel("Seed")).toHaveValue(seed);
  await page.getByRole("button", { name: "Another" }).click();
  await expect(page.locator("#finish")).toContainText("the same text again");
  expect(await textOf(page)).toBe(text);
  for (const before of [text, "A cat sat"]) {
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await textOf(page)).toBe(before);
  }
});

test("a text in one long line survives a reload, and is never laid out as a whole", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, "\u{10ffb2}word".repeat(60_000));
  await expect
    .poll(async () => Math.max(...(await storedTexts(page)).map(({ text }) => text.length)))
    .toBeGreaterThan(300_000);
  await page.addInitScript(() => {
    const laidOut = Object.assign(window, { letters: 0 });
    const lettersIn = (nodes: NodeList) =>
      [...nodes].reduce((sum, { textContent }) => sum + (textContent?.length ?? 0), 0);
    // Records also those that were removed again before this runs.
    new MutationObserver((records) => {
      for (const { target, addedNodes } of records)
        if (target instanceof Element && target.closest("#editor")) laidOut.letters += lettersIn(addedNodes);
    }).observe(document, { subtree: true, childList: true });
  });
  await page.reload();
  await expectEditor(page);
  const letters = await page.evaluate(() => (window as unknown as { letters: number }).letters);
  expect(letters).toBeGreaterThan(1000);
  expect(letters).toBeLessThan(100_000);
});

for (const [what, replace, begins] of [
  ["a link", (page: Page) => page.goto(`./${linkTo({ prompt: "The sea", options: {} })}`), /^The sea$/],
  [
    "an opening",
    (page: Page) => page.getByRole("button", { name: "The old king…" }).click(),
    /^The old king/,
  ],
] as const)
  test(`${what} replaces the text, which Undo restores after a reload and a new tab finds`, async ({
    page,
    context,
  }) => {
    await openWithoutModel(page);
    await setText(page, story);
    await replace(page);
    await expect.poll(() => textOf(page)).toMatch(begins);
    await page.reload();
    await expectEditor(page);
    expect(await textOf(page)).toMatch(begins);
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await textOf(page)).toBe(story);
    await setText(page, "Another one.");
    const other = await context.newPage();
    await openWithoutModel(other);
    expect(await textOf(other)).toBe(story);
  });

/** Opens the page without the code that stores texts, and types there. Returns a function that lets that code arrive. */
async function typeEarly(page: Page): Promise<() => void> {
  await withoutModel(page.context());
  let arrives: () => void = () => undefined;
  const late = new Promise<void>((resolve) => (arrives = resolve));
  const code = /\/keep-[^/]*\.js/;
  await page.context().route(code, (route) => late.then(() => route.fallback()).catch(() => undefined));
  await page.goto("./", { waitUntil: "domcontentloaded" });
  await page.locator("#draft").press("End");
  await page.keyboard.insertText(", there was a cat");
  return arrives;
}
const early = "Once upon a time, there was a cat";

test("what you type before the code that stores it has arrived survives reloads, also before any code runs", async ({
  page,
}) => {
  const arrives = await typeEarly(page);
  const runs = await hold(page, "**/assets/index-*.js");
  await page.reload({ waitUntil: "commit" });
  await page.locator("#draft").press("End");
  await page.keyboard.insertText("!");
  runs();
  await expect(page.locator("#draft")).toHaveValue(`${early}!`);
  arrives();
  for (const reload of [undefined, () => page.reload()]) {
    await reload?.();
    await expectEditor(page);
    expect(await textOf(page)).toBe(`${early}!`);
  }
});

test("what you type before the code that stores it has arrived survives the tab, and is shown once", async ({
  page,
  context,
}) => {
  const arrives = await typeEarly(page);
  await page.close({ runBeforeUnload: true });
  const next = await context.newPage();
  await next.goto("./", { waitUntil: "domcontentloaded" });
  await expect(next.locator("#draft")).toHaveValue(early);
  arrives();
  await expectEditor(next);
  expect(await textOf(next)).toBe(early);
  await expectStored(next, early);
  const third = await context.newPage();
  await third.goto("./");
  await expectEditor(third);
  expect(await textOf(third)).toBe("Once upon a time");
});
