// The text by its tokens: tinted by probability, cut as the tokenizer cuts it, and branched where another was chosen.
import { AxeBuilder } from "@axe-core/playwright";
import { expect, test, type Page } from "@playwright/test";
import { inPage } from "./model.js";
import { expectReady, inEditor, open, setOption, setText, startLongText, textOf } from "./page.js";

const text = (page: Page) => page.getByRole("textbox", { name: "Text" });
const panel = (page: Page) => page.getByRole("region", { name: "The token at the caret" });
const fact = (page: Page, name: string) =>
  panel(page)
    .locator("dl > div", { has: page.getByText(name, { exact: true }) })
    .locator("dd");
const likeliest = (page: Page) => panel(page).getByRole("listitem");
const setCaret = (page: Page, offset: number) =>
  inEditor(page, (view, anchor) => view.dispatch({ selection: { anchor } }), offset);
const percent = (logprob: number) => `${(Math.exp(logprob) * 100).toFixed(1)}%`;

async function see(page: Page, view: string): Promise<void> {
  await page.getByLabel("View").selectOption(view);
  await expect(page.locator("#scored")).toHaveText(/^\d+ tokens$/, { timeout: 30_000 });
}

/** What the module gives for the page's text. */
const scoreOf = (page: Page, value: string) =>
  inPage(
    page,
    async ({ loadModel }, given) => {
      const model = await loadModel("models/demo/");
      const { tokens } = await model.score(given);
      await model.dispose();
      return tokens;
    },
    value,
  );

test("each token is tinted by its probability, and what else could stand there is told", async ({ page }) => {
  await open(page);
  const given = "Once upon a time there was a strawberry elephant";
  await setText(page, given);
  await see(page, "Probability");
  const scores = await scoreOf(page, given);
  await expect(page.locator("#scored")).toHaveText(`${scores.length} tokens`);
  for (const place of [text(page), page.locator("#generate")]) {
    await place.focus();
    await expect(page.locator("#editor .cm-editor")).toHaveClass(/\bseen\b/); // wherever the focus is
  }
  const least = [0.5, 0.1, 0.01, 0];
  const bands = scores.map(({ logprob }) =>
    logprob === null ? -1 : least.findIndex((each) => Math.exp(logprob) >= each),
  );
  for (const band of [0, 1, 2, 3]) {
    const expected = scores.filter((_, place) => bands[place] === band).map((token) => token.text);
    expect(await page.locator(`#editor .band-${band}`).allTextContents(), `band ${band}`).toEqual(expected);
  }
  await setCaret(page, given.length);
  const last = scores.at(-1);
  await expect(fact(page, "Probability")).toHaveText(/%$/);
  expect(Math.exp(last?.logprob ?? 0)).toBeLessThan(0.01); // the elephant is a surprise
  await setCaret(page, "Once upon a".length);
  await expect(fact(page, "Probability")).toHaveText(percent(scores[2]?.logprob ?? NaN));
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  await expect(fact(page, "Rank")).toHaveText("1");
  await expect(fact(page, "Entropy")).toHaveText(/^at least \d+\.\d bits$/);
  await expect(likeliest(page).first()).toHaveText(`␣a${percent(scores[2]?.logprob ?? NaN)}`);
  await expect(likeliest(page).first().getByRole("button")).toHaveAttribute("aria-pressed", "true");

  // What the model writes is tinted as it comes, and what is edited is scored anew.
  await setCaret(page, given.length);
  await startLongText(page);
  const tintedWhileBusy = () =>
    page.evaluate(() => {
      const isBusy = document.querySelector('#editor [aria-busy="true"]') !== null;
      const tinted = [...document.querySelectorAll("#editor .token")];
      return isBusy ? tinted.map(({ textContent }) => textContent).join("").length : 0;
    });
  await expect.poll(tintedWhileBusy, { timeout: 20_000 }).toBeGreaterThan(given.length + 20);
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator("#finish")).toContainText("Stopped after");
  const count = `${(await scoreOf(page, await textOf(page))).length} tokens`;
  await expect(page.locator("#scored")).toHaveText(count, { timeout: 30_000 });
  await expect(page.locator("#finish")).toContainText("Stopped after"); // scoring takes nothing from it

  // What was expected before an edit can be chosen no longer.
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  await inEditor(page, (view) => view.dispatch({ changes: { from: 0, insert: "So, " } }), null);
  await expect(likeliest(page)).toHaveCount(0);
});

test("each token is tinted by its rank, which is told, and which paper has", async ({ page }) => {
  await open(page);
  const given = "Once upon a time there was a strawberry elephant of nothing whom he.";
  await setText(page, given);
  await see(page, "Rank");
  expect(new URL(page.url()).hash).toBe("#view=rank");
  const ranks = (await scoreOf(page, given)).map(({ text: token, rank }) => ({ token, rank }));
  expect(ranks[0]?.rank).toBeNull();
  const most = [1, 10, 100, Infinity];
  for (const band of [0, 1, 2, 3]) {
    const isOfBand = (rank: number | null) =>
      rank !== null && most.findIndex((each) => rank <= each) === band;
    const expected = ranks.filter(({ rank }) => isOfBand(rank));
    const found = page.locator(`#editor .band-${band}`);
    expect(await found.allTextContents(), `band ${band}`).toEqual(expected.map(({ token }) => token));
    expect(await found.evaluateAll((all) => all.map((each) => each.getAttribute("data-number")))).toEqual(
      expected.map(({ rank }) => String(rank)),
    );
  }
  await expect(page.locator("#legend")).toContainText("the first choice");
  // The most surprising of them is not among those that the engine tells of.
  const largest = Math.max(...ranks.map(({ rank }) => rank ?? 0));
  expect(largest).toBeGreaterThan(100);
  const upTo = ranks.slice(0, ranks.findIndex(({ rank }) => rank === largest) + 1);
  await setCaret(page, upTo.map(({ token }) => token).join("").length);
  await expect(fact(page, "Rank")).toHaveText(largest.toLocaleString("en"));
  await setCaret(page, given.length);

  // The ranks of what the model writes are those that its text is scored with.
  await setOption(page, "Tokens", "8");
  await setOption(page, "Seed", "1"); // its text is cut into the tokens that wrote it
  await page.getByRole("button", { name: "Generate", exact: true }).click();
  await expect(page.locator("#finish")).toContainText("Seed", { timeout: 30_000 });
  const written = () =>
    page
      .locator("#editor .token")
      .evaluateAll((all) => all.slice(-8).map((each) => each.getAttribute("data-number")));
  const scored = (await scoreOf(page, await textOf(page))).slice(-8).map(({ rank }) => String(rank));
  // Until it is scored anew, the first of them counts with what was healed before it.
  expect((await written()).slice(1)).toEqual(scored.slice(1));
  await expect.poll(written, { timeout: 10_000 }).toEqual(scored);
});

test("the tokenizer's view has the cut, the ids and the bytes, of whole characters", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await open(page);
  await setText(page, "strawberry 🍓!");
  await see(page, "Tokens");
  const pieces = await page.locator("#editor .token").allTextContents();
  expect(pieces.join("")).toBe("strawberry 🍓!");
  expect(pieces.length).toBeGreaterThanOrEqual(4);
  const count = (await scoreOf(page, "strawberry 🍓!")).length;
  expect(count).toBeGreaterThan(pieces.length); // a berry is several
  await expect(page.locator("#scored")).toHaveText(`${count} tokens`);
  await setCaret(page, "strawberry 🍓".length);
  await expect(fact(page, "Bytes")).toHaveText(/f0 9f 8d 93$/);
  await expect(fact(page, "Ids")).toHaveText(/^\d+(, \d+)+$/);
  for (const view of ["Tokens", "Probability", "Rank"]) {
    await page.getByLabel("View").selectOption(view);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    }
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);

  await setText(page, "The end. The"); // where the model might end the text
  const end = likeliest(page).getByRole("button", { name: "<|endoftext|>" });
  await expect(end).toBeDisabled({ timeout: 20_000 }); // which is nothing to write
  await expect(likeliest(page).first().getByRole("button")).toBeEnabled();
});

test("another token branches the text; branches are walked, named and kept over a reload", async ({
  page,
}) => {
  await open(page);
  await setOption(page, "Tokens", "6");
  await page.getByLabel("Ignore end of text").check();
  const given = "Once upon a time there was a big red dog";
  await setText(page, given);
  await see(page, "Probability");
  await setCaret(page, given.length);
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  const other = likeliest(page).getByRole("button", { pressed: false }).first();
  const name = ((await other.locator(".name").textContent()) ?? "").replace("␣", " ");
  await other.click();
  await expect(page.locator("#editor .cm-content")).toHaveAttribute("aria-busy", "false", {
    timeout: 30_000,
  });
  const branched = await textOf(page);
  expect(branched.startsWith(`Once upon a time there was a big red${name}`)).toBe(true);
  expect(branched.length).toBeGreaterThan(given.length);
  const branches = page.getByRole("region", { name: "Branches" });
  await expect(branches.getByRole("listitem")).toHaveCount(2);
  await branches.getByRole("button", { name: "Go to First" }).click();
  expect(await textOf(page)).toBe(given);
  await branches.getByRole("button", { name: "Name First" }).click();
  await page.keyboard.type("The dog");
  await page.keyboard.press("Enter");
  const first = branches.getByRole("button", { name: "Go to The dog" });
  await expect(first).toHaveAttribute("aria-current", "true");
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await page.reload();
  await expectReady(page);
  const second = branches.getByRole("button", { name: /^Go to “/ });
  await second.click();
  expect(await textOf(page)).toBe(branched);
  await text(page).focus();
  await page.keyboard.press("Control+Z"); // walking is a step, too
  expect(await textOf(page)).toBe(given);
  await expect(first).toHaveAttribute("aria-current", "true");
  // What is walked to and left then is the text of its branch, as before.
  await second.click();
  expect(await textOf(page)).toBe(branched);
  await first.click();
  expect(await textOf(page)).toBe(given);
});

test("undo takes back the making of a branch, and redo makes it again", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "6");
  await page.getByLabel("Ignore end of text").check();
  const given = "Once upon a time there was a big red dog";
  await setText(page, given);
  await see(page, "Probability");
  await setCaret(page, given.length);
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  await likeliest(page).getByRole("button", { pressed: false }).first().click();
  await expect(page.locator("#finish")).toContainText("Seed", { timeout: 30_000 });
  const branched = await textOf(page);
  const branches = page.getByRole("region", { name: "Branches" });
  await text(page).focus();
  await page.keyboard.press("Control+Z"); // what the model wrote
  await page.keyboard.press("Control+Z"); // the branch
  expect(await textOf(page)).toBe(given);
  await expect(branches).toBeHidden();
  await page.reload();
  await expectReady(page);
  await page.getByRole("button", { name: "Redo" }).click();
  await page.getByRole("button", { name: "Redo" }).click();
  expect(await textOf(page)).toBe(branched);
  await branches.getByRole("button", { name: "Go to First" }).click();
  expect(await textOf(page)).toBe(given);
});

test("walking ends what is written, and each branch keeps its own text", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "4096");
  await page.getByLabel("Ignore end of text").check();
  const given = "Once upon a time there was a big red dog";
  await setText(page, given);
  await see(page, "Probability");
  await setCaret(page, "Once upon a".length);
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  const length = async () => (await textOf(page)).length;
  const other = likeliest(page).getByRole("button", { pressed: false }).first();
  const begun = `Once upon${((await other.locator(".name").textContent()) ?? "").replace("␣", " ")}`;
  await other.click();
  await expect.poll(length).toBeGreaterThan(begun.length + 20); // it goes on with that
  expect((await textOf(page)).startsWith(begun)).toBe(true);
  await expect(text(page)).toHaveAttribute("aria-busy", "true");

  const branches = page.getByRole("region", { name: "Branches" });
  const walk = async (name: string | RegExp) => {
    await branches.getByRole("button", { name }).click();
    await expect(text(page)).toHaveAttribute("aria-busy", "false");
    return textOf(page);
  };
  const first = await walk("Go to First");
  expect(first).toBe(given);
  const second = await walk(/^Go to “/);
  expect(second.startsWith(begun)).toBe(true);
  expect(second.length).toBeGreaterThan(begun.length + 20);
  expect(second).not.toContain(given);
  expect(await walk("Go to First")).toBe(first);
});
