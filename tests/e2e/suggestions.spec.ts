// Tab suggests three continuations, to accept or dismiss; after Escape, Tab leaves the text.
import { expect, test, type Page } from "@playwright/test";
import { violationsIn } from "./axe.js";
import { generate, inEditor, open, setOption, setText, startLongText, textOf } from "./page.js";

const text = (page: Page) => page.getByRole("textbox", { name: "Text" });
const list = (page: Page) => page.getByRole("listbox", { name: "Suggestions" });
const options = (page: Page) => list(page).getByRole("option");
const begun = "Once upon a time, there was a little"; // no longer word begins with the last

async function suggest(page: Page): Promise<string[]> {
  await text(page).press("Control+End");
  await page.keyboard.press("Tab");
  await expect(options(page).first()).toBeVisible({ timeout: 20_000 });
  await expect(options(page)).toHaveCount(3, { timeout: 20_000 });
  await expect(list(page)).toHaveAttribute("aria-busy", "false"); // they have grown to their end
  return options(page).allTextContents();
}

test("Tab suggests three texts, arrows choose, Enter takes one, and one Undo removes it", async ({
  page,
}) => {
  await open(page);
  await setText(page, begun);
  const found = await suggest(page);
  expect(new Set(found).size).toBe(3);
  for (const each of found) expect(each).toMatch(/^\S+( \S+)+$/); // some words
  await expect(options(page).nth(0)).toHaveAttribute("aria-selected", "true");
  await expect(text(page)).toHaveAttribute("aria-activedescendant", "suggestion-0");
  await page.keyboard.press("ArrowDown");
  await expect(options(page).nth(1)).toHaveAttribute("aria-selected", "true");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violationsIn(page)).toEqual([]);
  }
  await page.keyboard.press("Enter");
  expect(await textOf(page)).toBe(`${begun} ${found[1]}`);
  expect((await page.locator("#editor .models").allTextContents()).join("")).toBe(` ${found[1]}`);
  await expect(options(page)).toHaveCount(0);
  await page.keyboard.press("Control+Z");
  expect(await textOf(page)).toBe(begun);
});

test("suggestions can be taken word by word, extended by typing, or dismissed", async ({ page }) => {
  await open(page);
  await setText(page, begun);
  const found = await suggest(page);
  /** The rests of the suggestions that begin with `taken`, including the first suggestion. */
  const restsOf = (taken: string) =>
    found
      .filter((each) => each.startsWith(taken) && each !== taken)
      .map((each) => each.slice(taken.length).trim());
  const [word = "", next = ""] = found[0]?.split(" ") ?? [];
  await page.keyboard.press("Control+ArrowRight");
  expect(await textOf(page)).toBe(`${begun} ${word}`);
  await expect(options(page)).toHaveText(restsOf(word));
  // If you type a part of a suggestion, the rest stays.
  const typed = `${word} ${next[0]}`;
  await page.keyboard.type(` ${next[0]}`);
  await expect(options(page)).toHaveText(restsOf(typed));
  await page.keyboard.type("#");
  await expect(options(page)).toHaveCount(0);
  expect(await textOf(page)).toBe(`${begun} ${typed}#`);

  await setText(page, begun);
  await suggest(page);
  await page.keyboard.press("Escape");
  await expect(options(page)).toHaveCount(0);
  expect(await textOf(page)).toBe(begun);
  await page.keyboard.press("Tab"); // so that Escape had something to dismiss
  await expect(options(page).first()).toBeVisible({ timeout: 20_000 });
  await inEditor(page, (view) => view.dispatch({ selection: { anchor: 3 } }), null);
  await expect(options(page)).toHaveCount(0);
});

test("Escape, then Tab leaves the text, as the list of keys says", async ({ page }) => {
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
  const sheet = page.getByRole("dialog", { name: "Keys" });
  await expect(sheet).toBeHidden();
  await page.locator("#generate").focus();
  await page.keyboard.press("?");
  await expect(sheet).toContainText("Esc, then Tab");
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  await expect(page.locator("#generate")).toBeFocused();
});

interface Held {
  /** Place of the first request for suggestions that waits to be sent. */
  from: number;
  asked: number;
  answered: number;
  waiting: (() => void)[];
}

/** Lets the test hold back requests for suggestions. */
const holdBack = (page: Page) =>
  page.addInitScript(() => {
    const held: Held = { from: Infinity, asked: 0, answered: 0, waiting: [] };
    Object.assign(window, { held });
    const post = Reflect.get(Worker.prototype, "postMessage") as (...parts: unknown[]) => void;
    Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: never[]) {
      const { id, name, args } = message as {
        id: number;
        name?: string;
        args?: { options?: { n?: number } };
      };
      const send = () => post.call(this, message, ...rest);
      if (name !== "generate" || args?.options?.n !== 3) return send();
      held.asked += 1;
      this.addEventListener("message", ({ data }: MessageEvent<{ id?: number; type: string }>) => {
        if (data.id === id && /done|failed/.test(data.type)) held.answered += 1;
      });
      if (held.asked >= held.from) held.waiting.push(send);
      else send();
    };
  });

test("suggestions that were taken, dismissed or left do not return with a late answer", async ({ page }) => {
  const held = (from?: number) =>
    page.evaluate((first) => {
      const { held: now } = window as unknown as { held: Held };
      if (first !== undefined) Object.assign(now, { from: first, asked: 0, answered: 0 });
      return now;
    }, from);
  await holdBack(page);
  await open(page);
  await setOption(page, "Temperature", "0"); // all three are the same, so the page requests others
  const finish = page.locator("#finish");
  const ways: [string, shown: number, () => Promise<void>][] = [
    ["Enter", 1, () => page.keyboard.press("Enter")],
    ["Escape", 1, () => page.keyboard.press("Escape")],
    ["the focus elsewhere", 1, () => page.locator("#generate").focus()],
    ["Escape before the first", 0, () => page.keyboard.press("Escape")],
  ];
  for (const [way, count, leave] of ways) {
    await setText(page, begun);
    await held(count + 1);
    await text(page).press("Control+End");
    await page.keyboard.press("Tab");
    await expect.poll(async () => (await held()).asked, way).toBe(count + 1);
    await expect(options(page), way).toHaveCount(count);
    await expect(finish, way).toHaveText("Looking for words…");
    const taken = way === "Enter" ? ` ${await options(page).first().textContent()}` : "";
    await leave();
    await expect(options(page), way).toHaveCount(0);
    await page.evaluate(() => {
      const { held: now } = window as unknown as { held: Held };
      now.from = Infinity;
      for (const send of now.waiting.splice(0)) send();
    });
    await expect.poll(async () => (await held()).answered, way).toBeGreaterThan(count);
    await page.evaluate(
      () => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))),
    );
    expect(await options(page).count(), way).toBe(0);
    await expect(finish, way).toHaveText("");
    expect(await textOf(page), way).toBe(begun + taken);
  }
});

test("on touch devices a bar suggests, and taking one suggests the next", async ({ browser }) => {
  const context = await browser.newContext({
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 700 },
    serviceWorkers: "block",
    bypassCSP: true,
  });
  const page = await context.newPage();
  await open(page);
  await setText(page, begun);
  const bar = page.getByRole("group", { name: "Suggestions" });
  const { height } = (await bar.boundingBox()) ?? {};
  await bar.getByRole("button", { name: "Suggest words" }).tap();
  await expect(bar.getByRole("button")).toHaveCount(3, { timeout: 20_000 });
  expect((await bar.boundingBox())?.height).toBe(height);
  const first = await bar.getByRole("button").first().textContent();
  await bar.getByRole("button").first().tap();
  expect(await textOf(page)).toBe(`${begun} ${first}`);
  await expect(bar.getByRole("button").nth(1)).toBeVisible({ timeout: 20_000 });
  await page.locator("#generate").focus();
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keys" });
  await expect(sheet.locator("dd").first()).toHaveText(
    "suggests three ways to go on, and then takes the marked one; Enter starts a new line, as usual",
  );
  await page.keyboard.press("Escape");
  expect(await violationsIn(page)).toEqual([]);
  await context.close();
});

test("Escape closes the list of keys without stopping the model", async ({ page }) => {
  await open(page);
  await startLongText(page);
  await page.locator("#generate").focus();
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keys" });
  await expect(sheet).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  await expect(text(page)).toHaveAttribute("aria-busy", "true");
  await page.keyboard.press("Escape");
  await expect(page.locator("#finish")).toContainText("Stopped,");
});

test("in the middle of a word, suggestions complete that word", async ({ page }) => {
  await open(page);
  await setText(page, "Once upon a ti");
  const found = await suggest(page);
  expect(
    found.some((each) => each.startsWith("me")),
    found.join(),
  ).toBe(true);
  await page.keyboard.press("Escape");
  await setOption(page, "Temperature", "0");
  await setOption(page, "Tokens", "4");
  expect(await generate(page)).toMatch(/^Once upon a time, there/);
});

test("the model prefills the text while you type, so that Tab takes only a few steps", async ({ page }) => {
  await page.addInitScript(() => {
    const sent: string[] = [];
    Object.assign(window, { sent });
    const post = Reflect.get(Worker.prototype, "postMessage") as (...parts: unknown[]) => void;
    Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: never[]) {
      const { name, args } = message as { name?: string; args?: { prompt?: string } };
      if (name === "prefill") sent.push(args?.prompt ?? "");
      post.call(this, message, ...rest);
    };
  });
  await open(page);
  await text(page).press("Control+End");
  await page.keyboard.type(", there was a bear", { delay: 10 });
  const sent = () => page.evaluate(() => (window as unknown as { sent: string[] }).sent);
  await expect.poll(async () => (await sent()).at(-1)).toBe("Once upon a time, there was a bear");
  expect((await sent()).length).toBeLessThan(15); // not at every key
});
