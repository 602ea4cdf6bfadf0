// Inside: the guess after every layer, and what each head looks at, for the token at the caret.
import { expect, test, type Locator, type Page } from "@playwright/test";
import { expectAccessible } from "./axe.js";
import { inPage } from "./model.js";
import {
  expectReady,
  hold,
  insertAt,
  lookInside,
  open,
  serveDemoAs,
  setCaret,
  setText,
  showView,
  textOf,
} from "./page.js";

test.describe.configure({ timeout: 120_000 }); // axe reads every table, twice

const text = "Once upon a time there was a girl named Lily. Lily had a red ball. One day, Lily";
const panel = (page: Page) => page.getByRole("region", { name: "Inside the model" });
const status = (page: Page) => panel(page).locator(".inside-state [role=status]");
const chosen = (page: Page) => panel(page).locator(".chosen-token");
const figure = (page: Page, title: string) =>
  panel(page).locator("figure", { has: page.getByRole("heading", { name: title }) });
const guesses = (page: Page) => figure(page, "The model's guess after each layer");
const looks = (page: Page) => figure(page, "What a head looks at");
const heads = (page: Page) => figure(page, "All heads of all layers");
const openInside = (page: Page) => showView(page, "Inside");
const expectSeen = (page: Page) =>
  expect(status(page)).toHaveText(/^Inspected: 6 layers with 6 heads each\./, { timeout: 30_000 });
/** The contents of a table, row by row. */
async function rowsOf(where: Locator): Promise<string[][]> {
  const rows = await where.locator("tbody tr").all();
  return Promise.all(rows.map((row) => row.locator("th, td").allTextContents()));
}

/** The module's inspection of the last token of `value`: the guesses, and the attention of `layer` by head. */
const inspect = (page: Page, value: string, layer: number) =>
  inPage(
    page,
    async ({ loadModel }, [given, which]) => {
      const model = await loadModel("models/demo/");
      const { ids, guesses: found, attention, heads: count } = await model.inspect(given, { layer: which });
      const rows = Array.from({ length: count }, (_, head) => [
        ...attention.slice(head * ids.length, (head + 1) * ids.length),
      ]);
      const texts = await Promise.all(ids.map((id) => model.detokenize([id])));
      await model.dispose();
      return { texts, guesses: found, rows };
    },
    [value, layer] as const,
  );

const visible = (token: string) => token.replaceAll(" ", "␣");
function percent(share: number): string {
  const digits = share < 0.1 ? 1 : 0;
  const format = { style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  return share < 0.001 ? "< 0.1%" : share.toLocaleString("en", format);
}

test("the guesses of the layers and the attention of the heads at the caret equal the engine's", async ({
  page,
}) => {
  const fetched: string[] = [];
  page.on("request", (request) => fetched.push(request.url()));
  const isFetched = () => fetched.some((url) => /\/inside-[^/]*\.js$/.test(url));
  await open(page);
  await setText(page, text);
  expect(isFetched()).toBe(false); // the figures load only when the tab is opened
  await openInside(page);
  await expectSeen(page);
  expect(isFetched()).toBe(true);

  const found = await inspect(page, text, 4);
  const last = found.texts.length;
  await expect(chosen(page)).toHaveText(`“␣Lily”, token ${last} of ${last}`);
  await guesses(page).locator("summary").click();
  const stages = (await rowsOf(guesses(page))).map(([stage, guess, share]) => [stage, guess, share]);
  expect(stages).toEqual(
    found.guesses.map(([guess], stage) => [
      stage === 0 ? "Embedding" : `Layer ${stage}`,
      visible(guess?.text ?? ""),
      percent(Math.exp(guess?.logprob ?? 0)),
    ]),
  );
  const bars = await guesses(page)
    .locator("svg rect")
    .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
  const shares = found.guesses.map(([guess]) => Math.exp(guess?.logprob ?? 0));
  const scale = Math.max(...bars) / Math.max(...shares);
  for (const [stage, width] of bars.entries()) expect(width).toBeCloseTo((shares[stage] ?? 0) * scale, 0);

  await panel(page).getByRole("combobox", { name: "Layer" }).selectOption("5");
  await looks(page).locator("summary").click();
  await panel(page).getByRole("combobox", { name: "Head" }).selectOption("4");
  const row = found.rows[3] ?? [];
  const strongest = row
    .map((share, index) => ({ share, index }))
    .sort((a, b) => b.share - a.share)
    .slice(0, 10);
  expect((await rowsOf(looks(page))).slice(0, 10)).toEqual(
    strongest.map(({ share, index }) => [
      String(index + 1),
      visible(found.texts[index] ?? ""),
      percent(share),
    ]),
  );
  // The text is tinted by the same weights, and the chosen token is framed.
  const least = [0.5, 0.2, 0.05, 0.01, 0];
  for (const band of least.keys()) {
    const inBand = (share: number) => least.findIndex((each) => share >= each) === band;
    // A tinted space would remain alone at the end of a line.
    const expected = found.texts
      .filter((_, index) => inBand(row[index] ?? 0))
      .map((token) => token.trimStart() || token);
    expect(await page.locator(`#editor .look-${band}`).allTextContents(), `band ${band}`).toEqual(expected);
  }
  await expect(page.locator("#editor .looking")).toHaveText("Lily");
  const arcs = row.slice(0, -1).filter((share) => share >= 0.01).length;
  await expect(looks(page).locator(".arc")).toHaveCount(arcs);

  // Chooses another token in the text, then with the buttons.
  await setCaret(page, "Once upon a".length);
  await expect(chosen(page)).toHaveText(`“␣a”, token 3 of ${last}`);
  await expectSeen(page);
  await expect(guesses(page).locator(".finding")).toContainText("In the text, “␣time” comes next.");
  await panel(page).getByRole("button", { name: "Token after" }).click();
  await expect(chosen(page)).toHaveText(`“␣time”, token 4 of ${last}`);
  await panel(page).getByRole("button", { name: "Token before" }).click();
  await panel(page).getByRole("button", { name: "Token before" }).click();
  await expect(chosen(page)).toHaveText(`“␣upon”, token 2 of ${last}`);
  await setCaret(page, 0);
  await expect(chosen(page)).toHaveText(`“Once”, token 1 of ${last}`);
  await expectSeen(page);
  await expect(looks(page).locator(".finding")).toHaveText("Layer 5, head 4, looks at “Once” 100%.");

  await test.step("in a text of a thousand tokens, it shows the last ones that fit the context", async () => {
    await setText(page, "Lily had a red ball. 🍓 She saw it. ".repeat(80));
    await expect(status(page)).toContainText("The model sees the last 512 tokens", { timeout: 30_000 });
    const place = (await chosen(page).textContent()) ?? "";
    const count = Number(/of ([\d,]+)$/.exec(place)?.[1]?.replace(",", ""));
    expect(count).toBeGreaterThan(1000);
    await panel(page).getByRole("button", { name: "Token before" }).click();
    await expect(chosen(page)).toContainText(`token ${count - 1} of`);
    await expectSeen(page);
  });
});

test("Inside is a tab that works by keyboard, opens from a link and survives a reload", async ({ page }) => {
  await open(page);
  const tabs = page.getByRole("tablist", { name: "View" }).getByRole("tab");
  const [ofText, ofInside] = [tabs.first(), tabs.last()];
  const expectShown = async (shown: Locator, other: Locator) => {
    await expect(shown).toHaveAttribute("aria-selected", "true");
    await expect(other).toHaveAttribute("aria-selected", "false");
    await expect(other).toHaveAttribute("tabindex", "-1");
    const name = (await shown.textContent()) ?? "";
    await expect(page.getByRole("tabpanel", { name, exact: true })).toBeVisible();
  };
  await expectShown(ofText, ofInside);
  await showView(page, "Tokens");
  await expect.poll(() => new URL(page.url()).hash).toBe("#view=tokens");
  await ofText.focus();
  await page.keyboard.press("ArrowLeft"); // wraps around to the last tab
  await expect(ofInside).toBeFocused();
  await expect(panel(page)).toBeHidden(); // focus alone does not open the panel, because computing it takes time
  await page.keyboard.press("ArrowRight"); // wraps around to the first tab
  await page.keyboard.press("End");
  await expect(ofInside).toBeFocused();
  await page.keyboard.press("Enter");
  await expectShown(ofInside, ofText);
  await expectSeen(page);
  expect(new URL(page.url()).hash).toBe("#view=inside");

  await page.reload();
  await expectReady(page);
  await expectShown(ofInside, ofText);
  await expectSeen(page);
  await ofInside.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  await expectShown(ofText, ofInside);
  await expect(panel(page)).toBeHidden();
  expect(new URL(page.url()).hash).toBe("");

  await page.evaluate(() => (location.hash = "#view=probability"));
  await expect(page.getByRole("tab", { name: "Probability" })).toHaveAttribute("aria-selected", "true");
  await expect(page.locator("#editor .band-0").first()).toBeVisible({ timeout: 30_000 });
});

test("the keyboard moves among the heads, and each picture links to its part of the model", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await open(page);
  await setText(page, text);
  await openInside(page);
  await expectSeen(page);
  const grid = page.getByRole("grid", { name: "All heads of all layers" });
  await grid.focus();
  const active = async () => {
    const id = (await grid.getAttribute("aria-activedescendant")) ?? "";
    await expect(page.locator(`#${id}`)).toHaveAttribute("aria-selected", "true");
    return page.locator(`#${id}`).getAttribute("aria-label");
  };
  /** A layer may arrive after the first one. */
  const expectActive = (label: RegExp) => expect.poll(active).toMatch(label);
  const expectAfter = async (key: string, label: RegExp) => {
    await page.keyboard.press(key);
    await expectActive(label);
  };
  await page.keyboard.press("Home");
  for (let layer = 0; layer < 6; ++layer) await page.keyboard.press("ArrowUp"); // stops at the first layer
  await expectActive(/^Layer 1, head 1: \d.* to /);
  await expectAfter("ArrowRight", /^Layer 1, head 2: /);
  await expectAfter("ArrowDown", /^Layer 2, head 2: /);
  await expectAfter("End", /^Layer 2, head 6: /);
  await expect(panel(page).getByRole("combobox", { name: "Layer" })).toHaveValue("2");
  await expect(panel(page).getByRole("combobox", { name: "Head" })).toHaveValue("6");
  await expect(looks(page).locator(".finding")).toHaveText(/^Layer 2, head 6, looks at “/);
  expect(await textOf(page)).toBe(text); // the grid handled the keys
  await heads(page).locator("#head-4-0").click();
  await expect(looks(page).locator(".finding")).toContainText("Layer 5, head 1, ");

  const diagram = panel(page).getByRole("group", { name: "The parts of GPT-2" });
  const parts = ["embedding", "positions", "residual stream", "attention", "MLP", "unembedding"];
  for (const part of parts) {
    await diagram.getByRole("button", { name: part, exact: true }).press("Enter");
    await expect(panel(page).locator(".part-sentence")).toHaveText(/\d/); // of this very model
  }
  await guesses(page).getByRole("button", { name: "residual stream" }).click();
  const stream = diagram.getByRole("button", { name: "residual stream" });
  await expect(stream).toHaveAttribute("aria-pressed", "true");
  await expect(stream).toHaveClass(/shown/);
  await expect(diagram.getByRole("button", { name: "MLP" })).not.toHaveClass(/shown/);
  await expect(panel(page).locator(".part-sentence")).toContainText("384 numbers");

  for (const summary of await panel(page).locator("summary").all())
    if ((await summary.locator("..").getAttribute("open")) === null) await summary.click();
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

test("Inside waits for the model, can be cancelled and continued, and drops what an edit makes stale", async ({
  page,
}) => {
  const release = await hold(page, "**/models/demo/**");
  await page.goto("./");
  await page.locator("#editor .cm-content").waitFor({ timeout: 30_000 });
  await setText(page, text);
  await openInside(page);
  await expect(status(page)).toHaveText("The pictures appear once the model is loaded.");
  await expectAccessible(page);

  const releaseLook = await hold(page, "**/gpt2-inspect.js*");
  release();
  await expectReady(page);
  const cancel = panel(page).getByRole("button", { name: "Cancel" });
  await expect(cancel).toBeVisible({ timeout: 30_000 });
  await expect(panel(page).getByRole("progressbar", { name: "Looking inside" })).toBeVisible();
  await expectAccessible(page);
  await cancel.click();
  await expect(status(page)).toHaveText("Stopped.");
  releaseLook();
  await panel(page).getByRole("button", { name: "Look again" }).press("Enter");
  await expectSeen(page);
  await expect(guesses(page)).toBeVisible();

  await insertAt(page, 0, "So, ");
  await expect(guesses(page)).toBeHidden(); // at once, and in the text, too
  expect(await page.locator("#editor .token").count()).toBe(0);
  await expectSeen(page);
  await expect(guesses(page)).toBeVisible();
  await expect(page.locator("#editor .looking")).toHaveText("Lily");

  await setText(page, "");
  await expect(status(page)).toHaveText(/^There is no text yet/);
  await expect(guesses(page)).toBeHidden();
  await page.getByRole("tab", { name: "Text" }).click();
  await expect(panel(page)).toBeHidden();
});

test("values of one model are not shown for the next model", async ({ page }) => {
  const other = { folder: "another", name: "Another", parameters: 12_318_720, bytes: 13_373_469 };
  await serveDemoAs(page, other.folder);
  await page.route("**/models/index.json", (route) => route.fulfill({ json: [other] }));
  await open(page);
  await setText(page, text);
  await lookInside(page);
  // Records at each change whether the panel shows pictures, and its message.
  const changes = await page.evaluateHandle(() => {
    const seen: { isShown: boolean; tints: number; said: string }[] = [];
    const figures = document.querySelector(".inside-figures > div")?.shadowRoot;
    const pictures = figures?.querySelector("[part=pictures]");
    const state = document.querySelector(".inside-state p");
    const note = () => {
      const isShown = pictures != null && getComputedStyle(pictures).visibility === "visible";
      const tints = document.querySelectorAll("#editor .token").length;
      seen.push({ isShown, tints, said: state?.textContent ?? "" });
    };
    if (state) new MutationObserver(note).observe(state, { childList: true });
    return seen;
  });
  await page.locator("#chooser summary").click();
  await page.locator("#site-models-list button").click();
  await expect(page.locator("#chooser-name")).toHaveText("Another", { timeout: 30_000 });
  await expectReady(page);
  await expect.poll(async () => (await changes.jsonValue()).length).toBeGreaterThan(1);
  await expectSeen(page);
  await expect(guesses(page)).toBeVisible();
  expect((await changes.jsonValue())[0]).toEqual({ isShown: false, tints: 0, said: "" });
});
