// Links to a text: the page writes it again, and checks it by its hash.
import { expect, test, type Page } from "@playwright/test";
import {
  expectFinished,
  expectGrowth,
  generate,
  inEditor,
  insertAt,
  linkTo,
  lookInside,
  modelsText,
  open,
  openSection,
  press,
  setCaret,
  setLength,
  setOption,
  setText,
  showView,
  startLongText,
  stop,
  textOf,
} from "./page.js";

async function copyLink(page: Page): Promise<string> {
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await page.evaluate(() => navigator.clipboard.writeText("")); // forgets an earlier link
  await openSection(page, "sharing");
  await page.locator("#share").click();
  await expect(page.locator("#share-status")).toContainText("Copied: a link of");
  await expect.poll(clipboard).not.toBe(""); // the page may still show the message of an earlier link
  return clipboard();
}

/** Records every status from now on. Returns a function that reads them. */
async function recordStatus(page: Page): Promise<() => Promise<string[]>> {
  const seen = await page.locator("#finish").evaluateHandle((status) => {
    const texts: string[] = [];
    new MutationObserver(() => texts.push(status.textContent)).observe(status, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    return texts;
  });
  return () => seen.jsonValue();
}

const identical = /^Identical to the linked text: \d+ tokens, checked by hash\.$/;

test.beforeEach(({ context }) => context.grantPermissions(["clipboard-read", "clipboard-write"]));

test("opening a link writes exactly the same text, and says so; typing meanwhile prevents this claim", async ({
  page,
  context,
}) => {
  await open(page);
  await setText(page, "");
  await expect(page.locator("#share")).toHaveAttribute("aria-disabled", "true");
  await setText(page, "The end.<|endoftext|>Tom said “hello”, and 🍓 "); // a special token, too
  await setOption(page, "Temperature", "1.1");
  await startLongText(page); // with a random seed
  await expectGrowth(page, 1000);
  await stop(page);
  const text = await textOf(page);
  const link = await copyLink(page);

  const other = await context.newPage();
  await other.goto(link);
  await expect(other.locator("#finish")).toHaveText(identical);
  expect(await textOf(other)).toBe(text);

  const third = await context.newPage();
  await third.goto(link);
  const said = await recordStatus(third);
  await inEditor(
    third,
    async (view) => {
      while (view.state.doc.length < 60) await new Promise(requestAnimationFrame);
      view.dispatch({ changes: { from: 0, insert: "So: " } });
    },
    null,
  );
  await expectFinished(third);
  expect(await textOf(third)).toBe(`So: ${text}`);
  await setOption(third, "Tokens", "5");
  await generate(third); // takes longer than the check of a hash
  expect((await said()).join()).toContain("Finished");
  expect((await said()).join()).not.toContain("Identical");
});

test("a link contains the text around the last run, the options, and the parts that are switched off", async ({
  page,
  context,
}) => {
  await open(page);
  await setLength(page, "8");
  await setOption(page, "Temperature", "1.2");
  await lookInside(page);
  await page.getByRole("button", { name: /^Switch off layer \d, head \d$/ }).click();
  await showView(page, "Text");
  await generate(page);
  await setText(page, `${await textOf(page)}. Then The end`);
  await setCaret(page, (await textOf(page)).length - " The end".length);
  await generate(page);
  await insertAt(page, (await textOf(page)).length, "!");
  const text = await textOf(page);
  expect(text).toMatch(/\. Then.+ The end!$/s);

  const other = await context.newPage();
  await other.goto(await copyLink(page));
  await expect(other.locator("#finish")).toHaveText(identical);
  expect(await textOf(other)).toBe(text);
  expect(await modelsText(other)).toBe(await modelsText(page));
  await expect(other.locator("#changed")).toHaveText("1 part is switched off ✕");
  await openSection(other, "options");
  await expect(other.getByLabel("Temperature", { exact: true })).toHaveValue("1.2");
  await expect(other.getByLabel("Tokens", { exact: true })).toHaveValue("8");
  await expect(other.getByLabel("Ignore end of text")).toBeChecked();
  await expect(other.getByLabel("Seed")).not.toHaveValue("");
});

test("the page says so if a link's text differs or has no run, or the link is invalid", async ({ page }) => {
  const options = { maxNewTokens: 5, seed: 1, temperature: "high" };
  await page.goto(`./${linkTo({ prompt: "Once upon", options, hash: "0".repeat(64) })}`);
  const expectFinish = (said: string) => expect(page.locator("#finish")).toContainText(said);
  await expectFinish("This is not the linked text");
  const text = await textOf(page);
  expect(text).toMatch(/^Once upon.+/s);
  await page.goto("about:blank");
  await page.goto("./#text=nothing");
  await expectFinish("The link of this page cannot be read");
  expect(await textOf(page)).toBe(text); // the text is unchanged
  await page.evaluate((hash) => (location.hash = hash), linkTo({ prompt: "The sea", options: {} }));
  await expectFinish("This is the linked text, unchanged");
  expect(await textOf(page)).toBe("The sea");
});

test("an open page follows a new link, until you stop it", async ({ page }) => {
  const options = { maxNewTokens: 4096, seed: 1, ignoreEos: true };
  const link = linkTo({ prompt: "The sea was", options, hash: "0".repeat(64) });
  await open(page);
  await page.evaluate((hash) => (location.hash = hash), link);
  await expect.poll(() => textOf(page)).toMatch(/^The sea was.+/s);
  const said = await recordStatus(page);
  await stop(page);
  await setOption(page, "Tokens", "5");
  await generate(page); // takes longer than the check of a hash
  expect((await said()).join()).toContain("Stopped,");
  expect((await said()).join()).not.toContain("linked text"); // the page does not compare a part
});

test("without a clipboard the link is in the address, and Copy selects the text; if no link can be made, the page says so", async ({
  page,
}) => {
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await open(page);
  await setOption(page, "Tokens", "5");
  const text = await generate(page);
  await openSection(page, "sharing");
  await page.locator("#share").click();
  await expect(page.locator("#share-status")).toContainText("The link is now in the address bar");
  const url = new URL(page.url());
  expect(url.search).toBe("?model=models/demo/");
  expect(url.hash).toMatch(/^#text=[\w-]+$/);
  await expect(page.locator("#finish")).toContainText("Finished"); // the link is not followed

  await page.evaluate(() => Object.defineProperty(window, "CompressionStream", { value: undefined }));
  await openSection(page, "sharing");
  await page.locator("#share").click();
  await expect(page.locator("#share-status")).toContainText("No link could be made: ");

  await press(page, "copy");
  await expect(page.locator("#finish")).toContainText("The text is selected");
  expect(await page.evaluate(() => String(getSelection()))).toBe(text);
});
