// The view "What the model sees": the part of the text that it reads, the two fields, and the text that it then writes.
import { expect, test, type Page } from "@playwright/test";
import { withFields } from "../../web/page/assistant/compose.js";
import { expectAccessible } from "./axe.js";
import { inPage } from "./model.js";
import {
  expectEditor,
  generate,
  open,
  openSection,
  openWithoutModel,
  press,
  setCaret,
  setLength,
  setOption,
  setText,
  showView,
  textOf,
} from "./page.js";

/** It begins with the text of a special token, which is that token for the model. */
const remember = "<|endoftext|>Max is a brown dog who can talk.";
const note = "It is getting dark, and Lily is afraid.";
const begin = "Lily went out. She saw the sea. It was big. Max ran to the";
/** A text longer than the demo's window of 512 tokens. */
const long = `${"The cat sat on the mat and looked at the small red bird. ".repeat(45)}${begin}`;

const field = (page: Page, name: "Always remember" | "Note") => page.getByLabel(name, { exact: true });
const unread = async (page: Page) => (await page.locator("#editor .unread").allTextContents()).join("");
const besides = (page: Page) => page.locator("#editor .beside").allTextContents();

async function see(page: Page): Promise<void> {
  await showView(page, "Sees");
  await expect(page.locator("#scored")).toContainText("Words read: ");
}

async function setFields(page: Page, fields: { remember: string; note: string }): Promise<void> {
  await see(page);
  await field(page, "Always remember").fill(fields.remember);
  await field(page, "Note").fill(fields.note);
}

/** The module's text after `prompt`, with the page's options. */
const writtenBy = (page: Page, prompt: string, maxNewTokens: number, seed: number) =>
  inPage(
    page,
    async ({ loadModel }, options) => {
      const model = await loadModel("models/demo/");
      const { text, droppedTokens } = await model.complete(options.prompt, {
        maxNewTokens: options.maxNewTokens,
        seed: options.seed,
        heal: true,
        allowSpecial: true,
      });
      const ids = Array.from(await model.tokenize(options.prompt, { allowSpecial: true }));
      const dropped = await model.detokenize(ids.slice(0, droppedTokens));
      await model.dispose();
      return { text, dropped };
    },
    { prompt, maxNewTokens, seed },
  );

async function expectFields(page: Page, remember: string, note: string): Promise<void> {
  await expect(field(page, "Always remember")).toHaveValue(remember);
  await expect(field(page, "Note")).toHaveValue(note);
}

test("the model writes what the module writes after what the view shows", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "24");
  await setOption(page, "Seed", "5");

  await test.step("a long text without fields: what the engine drops is grey", async () => {
    await setText(page, long);
    const first = await generate(page);
    const { text, dropped } = await writtenBy(page, long, 24, 5);
    expect(dropped).not.toBe("");
    expect(first).toBe(long + text);
    await setText(page, long);
    await see(page);
    await expect.poll(() => unread(page)).toBe(dropped);
    await field(page, "Note").fill(note);
    await expect.poll(() => besides(page)).toEqual([`Note ${note}`]);
    await field(page, "Note").fill(" ");
    await expect.poll(() => besides(page)).toEqual([]);
    expect(await generate(page)).toBe(first);
  });

  await test.step("a caret within the text: what follows it is grey", async () => {
    await setText(page, begin);
    await setCaret(page, 14);
    await expect.poll(() => unread(page)).toBe(begin.slice(14));
    await expect(page.locator("#scored")).toHaveText(/^Words read: 3 of 14\. Tokens: \d of at most 512\.$/);
  });

  await test.step("a short text with both fields", async () => {
    await setText(page, begin);
    const alone = await generate(page);
    await setText(page, begin);
    await setFields(page, { remember, note });
    await expect.poll(() => besides(page)).toEqual([`Always remember ${remember}`, `Note ${note}`]);
    const written = await generate(page);
    const prompt = `${remember}\nLily went out.\n${note}\nShe saw the sea. It was big. Max ran to the`;
    expect(written).toBe(begin + (await writtenBy(page, prompt, 24, 5)).text);
    expect(written).not.toBe(alone);
  });

  await test.step("a long text with both fields: its end that is not grey comes after Always remember", async () => {
    await setText(page, long);
    await expect.poll(() => unread(page)).not.toBe("");
    await expect.poll(async () => (await besides(page)).length).toBe(2);
    const end = long.slice((await unread(page)).length);
    expect(end.length).toBeGreaterThan(500);
    expect(end).toMatch(/^\S/);
    const prompt = withFields(end, { remember, note });
    const written = await generate(page);
    const { text, dropped } = await writtenBy(page, prompt, 24, 5);
    expect(dropped).toBe("");
    expect(written).toBe(long + text);
  });
});

test("the model still reads Always remember when the text outgrows the window, and a link writes it again", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  await setLength(page, "700");
  await setText(page, begin);
  await setFields(page, { remember, note });
  const written = await generate(page);
  await expect(page.locator("#finish")).toHaveText(
    /^Finished, 700 tokens\. The first \d+ tokens no longer fit the context\.$/,
  );
  await expect.poll(async () => (await besides(page)).length).toBe(2);
  expect((await besides(page))[0]).toBe(`Always remember ${remember}`);

  await page.evaluate(() => navigator.clipboard.writeText(""));
  await openSection(page, "sharing");
  await page.locator("#share").click();
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(clipboard).not.toBe("");
  const other = await context.newPage();
  await other.goto(await clipboard());
  await expect(other.locator("#finish")).toHaveText(
    "Identical to the linked text: 700 tokens, checked by hash.",
  );
  expect(await textOf(other)).toBe(written);
  await see(other);
  await expectFields(other, remember, note);
});

test("the fields belong to one text: a reload, a new text and an opening keep them apart", async ({
  page,
}) => {
  const library = page.locator("#library");
  const tab = page.getByRole("tab", { name: "What the model sees" });
  await openWithoutModel(page);
  await expect(tab).not.toHaveAttribute("aria-description", /./);
  await setText(page, begin);
  await showView(page, "Sees");
  await field(page, "Always remember").fill(remember);
  await field(page, "Note").fill(note);
  await expect(tab).toHaveAttribute("aria-description", "in use");
  await page.reload();
  await expectEditor(page);
  await expect(tab).toHaveAttribute("aria-selected", "true"); // the view stays, too
  await expectFields(page, remember, note);
  await expect(tab).toHaveAttribute("aria-description", "in use");

  await test.step("a new text has none", async () => {
    await openSection(page, "library");
    await library.getByRole("button", { name: "New text", exact: true }).click();
    await expect.poll(() => textOf(page)).toBe("");
    await expectFields(page, "", "");
    await expect(tab).not.toHaveAttribute("aria-description", /./);
  });

  await test.step("the text before comes back with its own", async () => {
    await openSection(page, "library");
    await library.locator("li button").filter({ hasText: "Lily went out" }).click();
    await expect.poll(() => textOf(page)).toBe(begin);
    await expectFields(page, remember, note);
  });

  await test.step("an opening begins with none, and Undo returns the text before with its own", async () => {
    await page.getByRole("button", { name: "Tom and his dog…" }).click();
    await expect.poll(() => textOf(page)).toBe("Tom and his dog");
    await expectFields(page, "", "");
    await press(page, "undo");
    expect(await textOf(page)).toBe(begin);
    await expectFields(page, remember, note);
  });
});

test("axe finds nothing in the view, and keys reach all of it", async ({ page }) => {
  await open(page);
  await setText(page, long);
  await page.locator("#tab-text").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  while (!(await field(page, "Always remember").evaluate((each) => each === document.activeElement)))
    await page.keyboard.press("Tab"); // past the openings
  await page.keyboard.type(remember);
  await page.keyboard.press("Tab");
  await page.keyboard.type(note);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("textbox", { name: "Text" })).toBeFocused();
  await expect.poll(async () => (await besides(page)).length).toBe(2);
  await expectAccessible(page);
});
