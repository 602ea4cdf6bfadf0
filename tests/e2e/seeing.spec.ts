// The text by its tokens: tinted by probability, cut as the tokenizer cuts it, and branched where another was chosen.
import { expect, test, type Page } from "@playwright/test";
import { violationsIn } from "./axe.js";
import { inPage } from "./model.js";
import {
  expectReady,
  generate,
  inEditor,
  open,
  releaseRequests,
  setOption,
  setText,
  showView,
  startLongText,
  takeRequests,
  textOf,
  watchRequests,
  writeOn,
} from "./page.js";

const text = (page: Page) => page.getByRole("textbox", { name: "Text" });
const panel = (page: Page) => page.getByRole("dialog", { name: "What could go here" });
const shownToken = (page: Page) => panel(page).locator(".token-head .name");
const share = (page: Page) => panel(page).locator(".token-head .share");
const fact = (page: Page, name: string) =>
  panel(page)
    .locator("dl > div", { has: page.getByText(name, { exact: true }) })
    .locator("dd");
const likeliest = (page: Page) => panel(page).getByRole("listitem");
const setCaret = (page: Page, offset: number) =>
  inEditor(page, (view, anchor) => view.dispatch({ selection: { anchor }, scrollIntoView: true }), offset);
const percent = (logprob: number) => `${(Math.exp(logprob) * 100).toFixed(1)}%`;

async function see(page: Page, view: string): Promise<void> {
  await showView(page, view);
  await expect(page.locator("#scored")).toHaveText(/^\d+ tokens$/, { timeout: 30_000 });
}

/** The module's scores of the page's text. */
const scoreOf = (page: Page, value: string) =>
  inPage(
    page,
    async ({ loadModel }, given) => {
      const model = await loadModel("models/demo/");
      // The model may have written the text of a special token, which is one token in the page.
      const { tokens } = await model.score(await model.tokenize(given, { allowSpecial: true }));
      await model.dispose();
      return tokens;
    },
    value,
  );

interface Score {
  text: string;
  logprob: number | null;
  rank: number | null;
}

/** The words of scored tokens, without the spaces before them, each with the score of its least probable token. */
function wordsOf(scores: readonly Score[]): Score[] {
  const words: Score[] = [];
  for (const { text, logprob, rank } of scores) {
    const last = words.at(-1);
    if (last && /[\p{L}\p{N}'’]$/u.test(last.text) && /^[\p{L}\p{N}'’]/u.test(text)) {
      last.text += text;
      last.logprob = Math.min(last.logprob ?? logprob ?? 0, logprob ?? 0);
      last.rank = Math.max(last.rank ?? 0, rank ?? 0);
    } else words.push({ text: text.trimStart(), logprob, rank });
  }
  return words.filter(({ text }) => text !== "");
}

test("each word is tinted by its probability, and its details list the alternatives", async ({ page }) => {
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
  const words = wordsOf(scores);
  const bands = words.map(({ logprob }) =>
    logprob === null ? -1 : least.findIndex((each) => Math.exp(logprob) >= each),
  );
  for (const band of [0, 1, 2, 3]) {
    const expected = words.filter((_, place) => bands[place] === band).map((word) => word.text);
    expect(await page.locator(`#editor .band-${band}`).allTextContents(), `band ${band}`).toEqual(expected);
  }
  await setCaret(page, given.length);
  const last = scores.at(-1);
  await expect(share(page)).toHaveText(/%$/);
  expect(Math.exp(last?.logprob ?? 0)).toBeLessThan(0.01); // the elephant is a surprise
  await setCaret(page, "Once upon a".length);
  await expect(share(page)).toHaveText(percent(scores[2]?.logprob ?? NaN));
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  await expect(fact(page, "Rank")).toHaveText("1");
  await expect(fact(page, "Entropy")).toHaveText(/^at least \d+\.\d bits$/);
  await expect(likeliest(page).first()).toHaveText(`␣a${percent(scores[2]?.logprob ?? NaN)}`);
  await expect(likeliest(page).first().getByRole("button")).toHaveAttribute("aria-pressed", "true");

  // Text is tinted while the model writes it, and edited text is scored again.
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
  await expect(page.locator("#finish")).toContainText("Stopped,");
  const count = `${(await scoreOf(page, await textOf(page))).length} tokens`;
  await expect(page.locator("#scored")).toHaveText(count, { timeout: 30_000 });
  await expect(page.locator("#finish")).toContainText("Stopped,"); // scoring does not change the text

  // Predictions from before an edit can no longer be chosen.
  await setCaret(page, given.length);
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  await inEditor(page, (view) => view.dispatch({ changes: { from: 0, insert: "So, " } }), null);
  await expect(likeliest(page)).toHaveCount(0);
});

test("each word is tinted by its rank, which its details show and print has, too", async ({ page }) => {
  await open(page);
  const given = "Once upon a time there was a strawberry elephant of nothing whom he.";
  await setText(page, given);
  await see(page, "Rank");
  expect(new URL(page.url()).hash).toBe("#view=rank");
  const scores = await scoreOf(page, given);
  const ranks = scores.map(({ text: token, rank }) => ({ token, rank }));
  expect(ranks[0]?.rank).toBeNull();
  const most = [1, 10, 100, Infinity];
  for (const band of [0, 1, 2, 3]) {
    const isOfBand = (rank: number | null) =>
      rank !== null && most.findIndex((each) => rank <= each) === band;
    const expected = wordsOf(scores).filter(({ rank }) => isOfBand(rank));
    const found = page.locator(`#editor .band-${band}`);
    expect(await found.allTextContents(), `band ${band}`).toEqual(expected.map(({ text: word }) => word));
    expect(await found.evaluateAll((all) => all.map((each) => each.getAttribute("data-number")))).toEqual(
      expected.map(({ rank }) => String(rank)),
    );
  }
  await expect(page.locator("#legend")).toContainText("the first choice");
  // The most surprising token is not among the alternatives that the engine returns.
  const largest = Math.max(...ranks.map(({ rank }) => rank ?? 0));
  expect(largest).toBeGreaterThan(100);
  const upTo = ranks.slice(0, ranks.findIndex(({ rank }) => rank === largest) + 1);
  await setCaret(page, upTo.map(({ token }) => token).join("").length);
  await expect(fact(page, "Rank")).toHaveText(largest.toLocaleString("en", { useGrouping: "min2" }));
  await setCaret(page, given.length);

  // Ranks are the same during generation and in scoring.
  await setOption(page, "Tokens", "8");
  await setOption(page, "Seed", "1"); // tokenizing this text gives the generated tokens again
  await writeOn(page);
  await expect(page.locator("#finish")).toContainText("Finished", { timeout: 30_000 });
  const written = () =>
    page
      .locator("#editor .token")
      .evaluateAll((all) => all.slice(-6).map((each) => each.getAttribute("data-number")));
  const atOnce = await written();
  const scored = wordsOf(await scoreOf(page, await textOf(page)))
    .slice(-6)
    .map(({ rank }) => String(rank));
  expect(atOnce).toEqual(scored);
  await expect.poll(written, { timeout: 10_000 }).toEqual(scored);
});

test("a word that the model continues is scored as one word", async ({ page }) => {
  await watchRequests(page, "tokenize");
  await open(page);
  await setText(page, "Once upon a ti");
  await showView(page, "Rank");
  await setOption(page, "Tokens", "3");
  await setOption(page, "Temperature", "0");
  await writeOn(page);
  await expect(page.locator("#finish")).toContainText("Finished", { timeout: 30_000 });
  expect(await textOf(page)).toMatch(/^Once upon a time,? /);
  await setCaret(page, "Once upon a time".length);
  await expect(shownToken(page)).toHaveText("me");
  await expect(fact(page, "Rank")).toHaveText("…");
  expect(await page.locator("#editor .token").count()).toBe(2); // the others are known
  await releaseRequests(page);
  await expect(shownToken(page)).toHaveText("␣time", { timeout: 10_000 });
  const scores = await scoreOf(page, await textOf(page));
  await expect(fact(page, "Rank")).toHaveText(String(scores[3]?.rank));
});

test("the tokenizer's view shows the tokens, ids and bytes, of whole characters", async ({ page }) => {
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
  expect(await violationsIn(page)).toEqual([]);
  await panel(page).getByRole("button", { name: "Close" }).click();
  for (const view of ["Tokens", "Probability", "Rank"]) {
    await showView(page, view);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsIn(page)).toEqual([]);
    }
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);

  await setText(page, "The end. The"); // where the model might end the text
  await text(page).press("Alt+ArrowDown");
  const end = likeliest(page).getByRole("button", { name: "<|endoftext|>" });
  await expect(end).toBeDisabled({ timeout: 20_000 }); // because it writes nothing
  await expect(likeliest(page).first().getByRole("button")).toBeEnabled();
});

test("the text of a special token is that token for the model, in the view and after a reload", async ({
  page,
}) => {
  const special = "<|endoftext|>";
  const begun = `She was happy.${special}`;
  await open(page);
  await setText(page, begun);
  await setOption(page, "Temperature", "0");
  await setOption(page, "Tokens", "8");
  await generate(page);
  const [expected, asText] = await inPage(
    page,
    async ({ loadModel }, prompt) => {
      const model = await loadModel("models/demo/");
      const options = { temperature: 0, maxNewTokens: 8, heal: true };
      const texts = [true, false].map((allowSpecial) => model.complete(prompt, { ...options, allowSpecial }));
      const written = (await Promise.all(texts)).map(({ text: each }) => each);
      await model.dispose();
      return written;
    },
    begun,
  );
  expect(expected).not.toBe(asText);
  expect(await textOf(page)).toBe(begun + expected);
  for (const isAnew of [false, true]) {
    if (isAnew) {
      await page.reload();
      await expectReady(page);
    }
    await see(page, "Tokens");
    expect(await page.locator("#editor .token").allTextContents()).toContain(special);
  }
});

/** The first seven words after `before`. */
function wordsFrom(whole: string, before: string): string {
  const words = whole
    .slice(whole.indexOf(before) + before.length)
    .trim()
    .split(/\s+/);
  return words.slice(0, 7).join(" ") + (words.length > 7 ? "…" : "");
}

test("choosing another token branches the text; branches can be walked, named and restored by a reload", async ({
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
  // Each branch is named by its first words that differ from the other.
  await expect(branches.locator(".words")).toHaveText(["dog", wordsFrom(branched, "red")]);
  await branches.getByRole("button", { name: "Compare" }).click();
  const dialog = page.getByRole("dialog", { name: "Compare" });
  await expect(dialog.locator("p").first()).toContainText(wordsFrom(branched, "red").replace(/…$/, ""));
  await expect(dialog.locator("p").last()).toHaveText("Once upon a time there was a big red dog");
  await expect(dialog.locator("p").last()).toHaveAttribute("dir", "auto");
  await expect(dialog.locator("p").last()).toHaveCSS("unicode-bidi", "plaintext"); // each paragraph has its own direction
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Go on with the other" }).click();
  expect(await textOf(page)).toBe(given);
  await branches.getByRole("button", { name: "Name First" }).click();
  await page.keyboard.type("The dog");
  await page.keyboard.press("Enter");
  const first = branches.getByRole("button", { name: "Go to The dog" });
  await expect(first).toHaveAttribute("aria-current", "true");
  const undo = page.getByRole("button", { name: "Undo" });
  await undo.click(); // naming is a step, and so is removing
  await expect(branches.getByRole("button", { name: "Go to First" })).toBeVisible();
  await page.getByRole("button", { name: "Redo" }).click();
  await expect(branches.getByRole("button", { name: "Remove The dog" })).toHaveCount(0); // all other branches start from it
  await branches.getByRole("button", { name: /^Go to “/ }).click();
  await branches.getByRole("button", { name: /^Remove “/ }).click();
  await expect(page.locator("#finish")).toHaveText(/ is removed; Undo brings it back\.$/);
  await expect(branches.getByRole("listitem")).toHaveCount(1);
  expect(await textOf(page)).toBe(given);
  await expect(first).toBeFocused();
  await undo.click();
  await expect(branches.getByRole("listitem")).toHaveCount(2);
  await expect(first).toHaveAttribute("aria-current", "true");
  expect(await violationsIn(page)).toEqual([]);
  await page.reload();
  await expectReady(page);
  const second = branches.getByRole("button", { name: /^Go to “/ });
  await second.click();
  expect(await textOf(page)).toBe(branched);
  await text(page).focus();
  await page.keyboard.press("Control+Z"); // switching branches is a step, too
  expect(await textOf(page)).toBe(given);
  await expect(first).toHaveAttribute("aria-current", "true");
  // Visiting a branch and leaving it does not change its text.
  await second.click();
  expect(await textOf(page)).toBe(branched);
  await first.click();
  expect(await textOf(page)).toBe(given);
});

test("a new branch is announced with a way back, until you continue in it", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "60");
  await page.getByLabel("Ignore end of text").check();
  const given = "Once upon a time there was a big red dog";
  const note = page.locator("#note");
  const branch = async () => {
    await setText(page, given);
    await text(page).press("Alt+ArrowDown");
    await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
    await likeliest(page).getByRole("button", { pressed: false }).first().click();
    await expect(note.getByRole("status")).toHaveText(
      /^Now the text continues with “.+”\. The other text is kept/,
    );
  };
  await branch();
  await expect(page.locator("#finish")).toContainText("Finished", { timeout: 30_000 });
  await expect(note).toBeVisible(); // the model has written meanwhile
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violationsIn(page)).toEqual([]);
  }
  await note.getByRole("button", { name: "Back to the other" }).click();
  await expect.poll(() => textOf(page)).toBe(given);
  await expect(note).toBeHidden();
  await branch();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(note).toBeHidden();
  await branch();
  await expect(page.locator("#finish")).toContainText("Finished", { timeout: 30_000 });
  await text(page).press("Control+End");
  await page.keyboard.type(" I go on.");
  await expect(note).toBeHidden();
});

test("the branches are beside the text, inside the window, with their actions in sight", async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 480 });
  await open(page);
  await setOption(page, "Tokens", "1");
  const given = "Once upon a time there was a big red dog";
  const branches = page.getByRole("region", { name: "Branches" });
  for (let count = 2; count <= 8; count += 1) {
    await setText(page, given);
    await text(page).press("Alt+ArrowDown");
    await likeliest(page).getByRole("button", { pressed: false, disabled: false }).first().press("Enter");
    await expect(branches.getByRole("listitem")).toHaveCount(count, { timeout: 20_000 });
    await expect(page.locator("#generate")).toHaveText("Write on");
  }
  await page.locator("#panel-close").click(); // it stood beside the text, and covered nothing of it
  for (const width of [1024, 1100, 1280, 1440]) {
    await page.setViewportSize({ width, height: 480 });
    const [beside, column] = await Promise.all([branches.boundingBox(), page.locator("#form").boundingBox()]);
    if (!beside || !column) throw new Error("it is not shown");
    expect(column.x, `at ${width} px`).toBeGreaterThan(0);
    expect(beside.x, `at ${width} px`).toBeGreaterThan(column.x + column.width);
    expect(beside.x + beside.width, `at ${width} px`).toBeLessThan(width);
    for (const name of ["Compare", "Name", "Remove"])
      await expect(branches.getByRole("button", { name })).toBeInViewport({ ratio: 1 });
  }
});

test("undo removes a new branch, and redo makes it again", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "6");
  await page.getByLabel("Ignore end of text").check();
  const given = "Once upon a time there was a big red dog";
  await setText(page, given);
  await see(page, "Probability");
  await setCaret(page, given.length);
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  await likeliest(page).getByRole("button", { pressed: false }).first().click();
  await expect(page.locator("#finish")).toContainText("Finished", { timeout: 30_000 });
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

test("switching branches stops the model, and each branch keeps its own text", async ({ page }) => {
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
  await expect.poll(length).toBeGreaterThan(begun.length + 20); // the model continues that text
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

test("a long text is tokenized at once, and tinted as its scores arrive", async ({ page }) => {
  await watchRequests(page, "score");
  await open(page);
  const sentence = "Once upon a time there was a strawberry elephant. ";
  await setText(page, sentence.repeat(1000));
  await showView(page, "Tokens");
  await expect(page.locator("#editor .cut-0").first()).toBeVisible({ timeout: 20_000 });
  const pieces = (await page.locator("#editor .token").allTextContents()).join("");
  expect(pieces.startsWith(sentence.repeat(5))).toBe(true);
  await expect(page.locator("#scored")).toHaveText("Reading the text: 0%");
  await setCaret(page, "Once upon a".length);
  await expect(shownToken(page)).toHaveText("␣a");
  await expect(share(page)).toHaveText("…");
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 }); // only the score is held back

  await showView(page, "Probability");
  await expect(page.locator("#editor .token")).toHaveCount(0);
  await releaseRequests(page);
  await expect(page.locator("#editor .band-0").first()).toBeVisible({ timeout: 20_000 });
  await expect(page.locator("#scored")).toHaveText(/^Reading the text: \d+%$/); // scoring has just started
  await setCaret(page, "Once upon a".length);
  await expect(share(page)).toHaveText(/%$/);
});

test("nothing is scored twice, and the model reads what Tab needs again afterwards", async ({ page }) => {
  await watchRequests(page);
  await open(page);
  const sentence = "Once upon a time there was a strawberry elephant. ";
  await setText(page, sentence.repeat(90));
  const isScored = () => expect(page.locator("#scored")).toHaveText(/^\d+ tokens$/, { timeout: 30_000 });
  const contextOf = (asked: Awaited<ReturnType<typeof takeRequests>>) =>
    asked.map(({ name }) => name).filter((name) => /generate|score|prefill|inspect/.test(name));
  await see(page, "Probability");
  const asked: Awaited<ReturnType<typeof takeRequests>> = [];
  const last = async () => {
    asked.push(...(await takeRequests(page)));
    return contextOf(asked).at(-1);
  };
  await expect.poll(last).toBe("prefill");
  const scored = (all: typeof asked) => all.filter(({ name }) => name === "score");
  expect(scored(asked).length).toBeGreaterThan(2); // windows of the context

  // Other views and caret positions reuse the known scores.
  for (const view of ["Rank", "Tokens"]) await see(page, view);
  await showView(page, "Inside");
  await expect(page.locator("#inside .inside-state [role=status]")).toHaveText(/^Inspected: /, {
    timeout: 30_000,
  });
  await showView(page, "Probability");
  await setCaret(page, sentence.length);
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  await isScored();
  expect(scored(await takeRequests(page))).toEqual([]);

  // After an edit at the end, only the text near it is scored.
  const before = (await page.locator("#scored").textContent()) ?? "";
  await text(page).press("Control+End");
  await page.keyboard.type("Zebras cross.");
  await expect(page.locator("#scored")).not.toHaveText(before);
  await isScored();
  asked.splice(0);
  await expect.poll(last).toBe("prefill");
  expect(scored(asked).length).toBeLessThanOrEqual(2);
});

for (const [kind, count] of [
  ["fits the context", 12],
  ["is longer than the context", 60],
] as const) {
  test(`after an edit at the end of a text that ${kind}, only the change is scored, with the same result`, async ({
    page,
  }) => {
    await watchRequests(page);
    await open(page);
    await setText(page, "Once upon a time there was a strawberry elephant. ".repeat(count));
    await see(page, "Rank");
    const whole = (await page.locator("#scored").textContent()) ?? "";
    await takeRequests(page);
    await text(page).press("Control+End");
    await page.keyboard.type("Zebras cross.");
    await expect(page.locator("#scored")).not.toHaveText(whole);
    await expect(page.locator("#scored")).toHaveText(/^\d+ tokens$/, { timeout: 30_000 });
    const asked = (await takeRequests(page)).filter(({ name }) => name === "score");
    expect(asked.length).toBeGreaterThan(0);
    for (const { tokens } of asked) expect(tokens).toBeLessThan(10);
    const words = wordsOf(await scoreOf(page, await textOf(page))).slice(-14);
    const shown = (await page.locator("#editor .token").all()).slice(-14);
    expect(
      await Promise.all(
        shown.map(async (each) => [await each.textContent(), await each.getAttribute("data-number")]),
      ),
    ).toEqual(words.map((word) => [word.text, String(word.rank)]));
  });
}

test("the page says that scores wait for the model to stop writing", async ({ page }) => {
  await open(page);
  await startLongText(page);
  await showView(page, "Probability");
  await expect(page.locator("#scored")).toHaveText("The scores appear once the model stops writing.");
  await expect(text(page)).toHaveAttribute("aria-busy", "true");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator("#scored")).toHaveText(/^\d+ tokens$/, { timeout: 30_000 });
});

/** A place on the screen: in the character at `offset`, after the fraction `part` of its width. */
const placeOf = (page: Page, offset: number, part: number) =>
  inEditor(
    page,
    (view, [at, within]) => {
      const box = view.coordsForChar(at);
      if (!box) throw new Error("it is not on the screen");
      return { x: box.left + (box.right - box.left) * within, y: (box.top + box.bottom) / 2 };
    },
    [offset, part] as const,
  );

const marked = async (page: Page) => (await page.locator("#editor .shown-token").allTextContents()).join("");

test.describe("the pressed token's details are shown, and it is marked", () => {
  const given = "Once, there was, in a wood, a bird.";

  /** The mark begins at the word: a marked space would touch the word before, or remain at the end of a line. */
  const expectToken = async (page: Page, token: string) => {
    await expect(shownToken(page)).toHaveText(token.replace(" ", "␣"));
    expect(await marked(page)).toBe(token.trimStart());
  };

  test("a mouse selects a token on either half of its letters", async ({ page }) => {
    await open(page);
    await setText(page, given);
    await see(page, "Probability");
    await expect(panel(page)).toBeHidden(); // it opens only on request
    for (const [offset, token] of [
      [given.indexOf(","), ","],
      [given.indexOf(" bird"), " bird"],
      [given.lastIndexOf(","), ","],
      [0, "Once"],
      [given.length - 1, "."],
    ] as const) {
      for (const half of [0.15, 0.85]) {
        const { x, y } = await placeOf(page, offset, half);
        await page.mouse.click(x, y);
        await expectToken(page, token);
      }
    }
    const { x, y } = await placeOf(page, given.indexOf(","), 0.15);
    await page.mouse.click(x, y); // the click puts the caret before the character
    await expectToken(page, ",");
    await page.keyboard.press("ArrowLeft");
    await expectToken(page, "Once");
    for (const media of [
      { colorScheme: "light" },
      { colorScheme: "dark" },
      { colorScheme: "dark", forcedColors: "active" },
    ] as const) {
      await page.emulateMedia(media);
      const outline = await page.locator("#editor .shown-token").evaluate((mark) => {
        const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(mark);
        return {
          outlineStyle,
          outlineWidth,
          isSeen: outlineColor !== getComputedStyle(document.body).backgroundColor,
        };
      });
      expect(outline).toEqual({ outlineStyle: "solid", outlineWidth: "2px", isSeen: true });
    }
    const end = await placeOf(page, given.length - 1, 1);
    await page.mouse.click(end.x + 60, end.y); // no character is there
    await expect(panel(page)).toBeHidden();
    await page.mouse.click(x, y);
    await showView(page, "Text");
    await expect(page.locator("#editor .shown-token")).toHaveCount(0);
  });

  test.describe("with a finger", () => {
    test.use({ hasTouch: true });

    test("a finger selects a token on either half of its letters", async ({ page }) => {
      await open(page);
      await setText(page, given);
      await see(page, "Rank");
      for (const half of [0.2, 0.8]) {
        for (const [offset, token] of [
          [given.lastIndexOf(","), ","],
          [given.indexOf(" wood") + 2, " wood"],
          [given.indexOf(","), ","],
        ] as const) {
          const { x, y } = await placeOf(page, offset, half);
          await page.touchscreen.tap(x, y);
          await expectToken(page, token);
          await page.waitForTimeout(100); // the caret follows
          await expectToken(page, token);
        }
      }
    });
  });
});

const long = "Once upon a time there was a strawberry elephant who lived in a big wood. ".repeat(6);

test("the alternatives of a word appear beside it, and the text stays in sight", async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await open(page);
  await setText(page, long);
  await see(page, "Probability");
  const at = await placeOf(page, long.indexOf("straw") + 2, 0.5);
  await page.mouse.click(at.x, at.y);
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  const [box, word, dock] = await Promise.all([
    panel(page).boundingBox(),
    page.locator("#editor .shown-token").boundingBox(),
    page.locator("#dock").boundingBox(),
  ]);
  if (!box || !word || !dock) throw new Error("it is not shown");
  expect(box.y).toBeGreaterThanOrEqual(word.y + word.height - 1);
  expect(box.y).toBeLessThan(word.y + word.height + 20);
  expect(box.x).toBeLessThanOrEqual(word.x + 1);
  expect(box.y + box.height).toBeLessThanOrEqual(dock.y);
  await page.keyboard.press("Escape");
  await expect(panel(page)).toBeHidden();
});

for (const [name, width, height, type] of [
  ["with 200% text at 1024 by 768", 1024, 768, "200%"],
  ["on a phone", 390, 844, "100%"],
  ["on a phone with its keyboard", 390, 480, "100%"],
  ["on a phone on its side", 844, 390, "100%"],
] as const) {
  test(`${name} the alternatives come first in a sheet, and half of the window is text`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await open(page);
    await page.evaluate((size) => (document.documentElement.style.fontSize = size), type);
    await setText(page, long);
    await see(page, "Probability");
    const dock = page.locator("#dock");
    const heightOf = async () => (await dock.boundingBox())?.height ?? Infinity;
    expect(await heightOf()).toBeLessThanOrEqual(height / 2);
    await setCaret(page, long.lastIndexOf("straw") + 3);
    await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
    await expect(page.locator("#editor .shown-token")).toBeInViewport({ ratio: 0.9 });
    expect(await heightOf()).toBeLessThanOrEqual(height / 2);
    expect((await dock.boundingBox())?.y).toBeGreaterThanOrEqual(height / 2);
    const inSight = await likeliest(page).evaluateAll(
      (all) => all.filter((each) => each.getBoundingClientRect().bottom <= window.innerHeight).length,
    );
    expect(inSight).toBeGreaterThanOrEqual(6);
    const word = await page.locator("#editor .shown-token").last().boundingBox();
    expect((word?.y ?? 0) + (word?.height ?? 0)).toBeLessThanOrEqual((await dock.boundingBox())?.y ?? 0);
    await setCaret(page, long.indexOf("straw") + 3);
    const textAfterWord = async () => {
      const [top, chosen] = [await dock.boundingBox(), page.locator("#editor .shown-token").last()];
      const { y = 0, height: line = 0 } = (await chosen.boundingBox()) ?? {};
      return (top?.y ?? 0) - y - line;
    };
    await expect.poll(textAfterWord).toBeGreaterThan(height / 8); // the next lines are in sight, too
    expect(await violationsIn(page)).toEqual([]);
    await panel(page).getByRole("button", { name: "Close" }).click();
    await expect(page.locator("#generate")).toBeVisible();
  });
}

test("the alternatives also appear in the plain text until you continue, and work by keyboard alone", async ({
  page,
}) => {
  await open(page);
  const given = "Once upon a time there was a strawberry elephant";
  await setText(page, given);
  const scores = await scoreOf(page, given);
  const at = await placeOf(page, given.indexOf("elephant") + 2, 0.5);
  await page.mouse.click(at.x, at.y);
  await expect(likeliest(page)).toHaveCount(10, { timeout: 20_000 });
  expect(await marked(page)).toBe("elephant");
  await expect(share(page)).toHaveText("< 0.1%"); // not among the likeliest tokens
  await expect(fact(page, "Rank")).toHaveText((scores.at(-1)?.rank ?? 0).toLocaleString("en"));
  await expect(page.locator("#editor .token")).toHaveCount(0); // no view is on
  await page.keyboard.type("x");
  await expect(panel(page)).toBeHidden();
  await page.keyboard.press("ArrowLeft");
  await expect(panel(page)).toBeHidden(); // the caret moves in plain text
  await setText(page, given);
  await setCaret(page, "Once upon a".length);
  await text(page).press("Alt+ArrowDown");
  await expect(likeliest(page).first().getByRole("button")).toBeFocused({ timeout: 20_000 });
  await expect(share(page)).toHaveText(percent(scores[2]?.logprob ?? NaN));
  await page.keyboard.press("ArrowDown");
  await expect(likeliest(page).nth(1).getByRole("button")).toBeFocused();
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(panel(page)).toBeHidden();
  await expect(text(page)).toBeFocused();
});

test("in a text longer than the context, a token has the same probability in its details and in the list", async ({
  page,
}) => {
  await open(page);
  const sentence = "Once upon a time there was a little girl. She had a red ball, and a big dog. ";
  const given = sentence.repeat(30);
  await setText(page, given);
  await see(page, "Probability");
  expect((await scoreOf(page, given)).length).toBeGreaterThan(600);
  for (const repeat of [24, 26, 29]) {
    for (const word of ["girl", "time", "ball"]) {
      await setCaret(page, sentence.length * repeat + sentence.indexOf(word) + word.length);
      await expect(shownToken(page)).toHaveText(`␣${word}`);
      const chosen = likeliest(page).getByRole("button", { pressed: true });
      await expect(chosen).toHaveCount(1, { timeout: 20_000 });
      await expect(chosen.locator(".share")).toHaveText((await share(page).textContent()) ?? "");
    }
  }
});
