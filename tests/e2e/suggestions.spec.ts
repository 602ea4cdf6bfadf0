// Tab suggests three continuations, to accept or dismiss; after Escape, Tab leaves the text.
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible, violationsIn } from "./axe.js";
import {
  generate,
  heldRequests,
  holdRequests,
  modelsText,
  open,
  releaseRequests,
  setCaret,
  setOption,
  setText,
  startLongText,
  takeRequests,
  textOf,
  watchRequests,
} from "./page.js";

const text = (page: Page) => page.getByRole("textbox", { name: "Text" });
const list = (page: Page) => page.getByRole("listbox", { name: "Suggestions" });
const options = (page: Page) => list(page).getByRole("option");
const keys = (page: Page) => page.getByRole("dialog", { name: "Keys" });
const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
const begun = "Once upon a time, there was a little"; // no longer word begins with the last

async function suggest(page: Page, least = 3): Promise<string[]> {
  await text(page).press("Control+End");
  await page.keyboard.press("Tab");
  await expect(options(page).nth(least - 1)).toBeVisible();
  await expect(list(page)).toHaveAttribute("aria-busy", "false"); // they have grown to their end
  return options(page).allTextContents();
}

test("Tab suggests three texts, to take one, to take by words, to extend by typing, or to dismiss", async ({
  page,
}) => {
  await open(page);
  await setText(page, begun);
  const found = await suggest(page);

  await test.step("arrows choose, Enter takes one, and one Undo removes it", async () => {
    expect(new Set(found).size).toBe(3);
    for (const each of found) expect(each).toMatch(/^\S+( \S+)+$/); // some words
    await expect(options(page).nth(0)).toHaveAttribute("aria-selected", "true");
    await expect(text(page)).toHaveAttribute("aria-activedescendant", "suggestion-0");
    await page.keyboard.press("ArrowDown");
    await expect(options(page).nth(1)).toHaveAttribute("aria-selected", "true");
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    expect(await textOf(page)).toBe(`${begun} ${found[1]}`);
    expect(await modelsText(page)).toBe(` ${found[1]}`);
    await expect(options(page)).toHaveCount(0);
    await page.keyboard.press("Control+Z");
    expect(await textOf(page)).toBe(begun);
  });

  await test.step("at the end of a long text the list is in sight", async () => {
    await setText(page, "She saw a dog.\n\n".repeat(60) + begun);
    for (const size of [desktop, phone]) {
      await page.setViewportSize(size);
      await suggest(page, 1); // after so many repetitions, draws may be the same
      await expect(list(page)).toBeInViewport({ ratio: 1 });
      await page.keyboard.press("Escape");
    }
    await page.setViewportSize(desktop);
    await setText(page, begun);
  });

  await test.step("a word is taken, and typing a part of a suggestion keeps its rest", async () => {
    const again = await suggest(page);
    /** The rests of the suggestions that begin with `taken`, including the first suggestion. */
    const restsOf = (taken: string) =>
      again
        .filter((each) => each.startsWith(taken) && each !== taken)
        .map((each) => each.slice(taken.length).trim());
    const [word = "", next = ""] = again[0]?.split(" ") ?? [];
    await page.keyboard.press("Control+ArrowRight");
    expect(await textOf(page)).toBe(`${begun} ${word}`);
    await expect(options(page)).toHaveText(restsOf(word));
    const typed = `${word} ${next[0]}`;
    await page.keyboard.type(` ${next[0]}`);
    await expect(options(page)).toHaveText(restsOf(typed));
    await page.keyboard.type("#");
    await expect(options(page)).toHaveCount(0);
    expect(await textOf(page)).toBe(`${begun} ${typed}#`);
  });

  await test.step("Escape and a move of the caret dismiss them", async () => {
    await setText(page, begun);
    await suggest(page);
    await page.keyboard.press("Escape");
    await expect(options(page)).toHaveCount(0);
    expect(await textOf(page)).toBe(begun);
    await page.keyboard.press("Tab"); // so that Escape had something to dismiss
    await expect(options(page).first()).toBeVisible();
    await setCaret(page, 3);
    await expect(options(page)).toHaveCount(0);
  });

  await test.step("in the middle of a word, they complete that word, as Write on does", async () => {
    await setText(page, "Once upon a ti");
    const completions = await suggest(page);
    expect(
      completions.some((each) => each.startsWith("me")),
      completions.join(),
    ).toBe(true);
    await page.keyboard.press("Escape");
    await setOption(page, "Temperature", "0");
    await setOption(page, "Tokens", "4");
    expect(await generate(page)).toMatch(/^Once upon a time, there/);
  });
});

test("Escape, then Tab leaves the text, as the list of keys says; Escape closes the list before it stops the model", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 700 });
  await open(page);
  await text(page).focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await expect(page.locator("#generate")).toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await expect(text(page)).toBeFocused();
  await page.keyboard.type("?"); // a question in the text
  expect(await textOf(page)).toContain("?");
  await expect(keys(page)).toBeHidden();
  await startLongText(page);
  await page.locator("#generate").focus();
  await page.keyboard.press("?");
  await expect(keys(page)).toContainText("Esc, then Tab");
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(keys(page)).toBeHidden();
  await expect(page.locator("#generate")).toBeFocused();
  await expect(text(page)).toHaveAttribute("aria-busy", "true");
  await page.keyboard.press("Escape");
  await expect(page.locator("#finish")).toContainText("Stopped,");
});

test("suggestions that were taken, dismissed or left do not return with a late answer", async ({ page }) => {
  await watchRequests(page);
  await open(page);
  await setOption(page, "Temperature", "0"); // all three are the same, so the page requests others
  await page.locator("#options summary").first().click(); // its picture would ask the model, too
  const finish = page.locator("#finish");
  const ways: [string, shown: number, () => Promise<void>][] = [
    ["Enter", 1, () => page.keyboard.press("Enter")],
    ["Escape", 1, () => page.keyboard.press("Escape")],
    ["the focus elsewhere", 1, () => page.locator("#generate").focus()],
    ["Escape before the first", 0, () => page.keyboard.press("Escape")],
  ];
  for (const [way, count, leave] of ways) {
    await setText(page, begun);
    await holdRequests(page, "generate");
    await text(page).press("Control+End");
    await page.keyboard.press("Tab");
    const held = async () => (await heldRequests(page)).held;
    await expect.poll(held, way).toBe(1);
    if (count > 0) {
      await releaseRequests(page, 1);
      await expect.poll(held, way).toBe(1); // the second request
    }
    await expect(options(page), way).toHaveCount(count);
    await expect(finish, way).toHaveText("Looking for words…");
    const taken = way === "Enter" ? ` ${await options(page).first().textContent()}` : "";
    await leave();
    await expect(options(page), way).toHaveCount(0);
    await releaseRequests(page);
    await expect.poll(async () => (await heldRequests(page)).answered, way).toBeGreaterThan(count);
    await page.evaluate(
      () => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))),
    );
    expect(await options(page).count(), way).toBe(0);
    await expect(finish, way).toHaveText("");
    expect(await textOf(page), way).toBe(begun + taken);
  }
});

test.describe("on touch devices", () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 700 } });

  test("a bar suggests, and taking one suggests the next", async ({ page }) => {
    await open(page);
    await setText(page, begun);
    const bar = page.getByRole("group", { name: "Suggestions" });
    const { height } = (await bar.boundingBox()) ?? {};
    await bar.getByRole("button", { name: "Suggest words" }).tap();
    await expect(bar.getByRole("button")).toHaveCount(3);
    expect((await bar.boundingBox())?.height).toBe(height);
    const first = await bar.getByRole("button").first().textContent();
    await bar.getByRole("button").first().tap();
    expect(await textOf(page)).toBe(`${begun} ${first}`);
    await expect(bar.getByRole("button").nth(1)).toBeVisible();
    await page.locator("#generate").focus();
    await page.keyboard.press("?");
    await expect(keys(page).locator("dd").first()).toHaveText(
      "suggests three ways to go on, and then takes the marked one; Enter starts a new line, as usual",
    );
    await page.keyboard.press("Escape");
    expect(await violationsIn(page)).toEqual([]);
  });
});

test("the model prefills the text while you type, so that Tab takes only a few steps", async ({ page }) => {
  await watchRequests(page);
  await open(page);
  await text(page).press("Control+End");
  await takeRequests(page);
  await page.keyboard.type(", there was a bear", { delay: 10 });
  const prompts: unknown[] = [];
  const last = async () => {
    const asked = (await takeRequests(page)).filter(({ name }) => name === "prefill");
    prompts.push(...asked.map(({ prompt }) => prompt));
    return prompts.at(-1);
  };
  await expect.poll(last).toBe("Once upon a time, there was a bear");
  expect(prompts.length).toBeLessThan(15); // not at every key
});
