// Inside: the guess after every layer, and what each head looks at, for the token at the caret.
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible } from "./axe.js";
import { inPage } from "./model.js";
import {
  expectReady,
  generate,
  generateAnew,
  hold,
  insertAt,
  open,
  setCaret,
  setLength,
  setOption,
  setText,
  showView,
  textOf,
} from "./page.js";

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
  expect(status(page)).toHaveText(/^Inspected: 6 layers with 6 heads each\./);
test("the pictures and the tints show what the module's inspection finds for the token at the caret", async ({
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
  await expect(chosen(page)).toHaveText(/^“␣Lily”, token (\d+) of \1$/);

  const guess = await inPage(
    page,
    async ({ loadModel }, given) => {
      const model = await loadModel("models/demo/");
      const { guesses: found } = await model.inspect(given);
      await model.dispose();
      return found.map(([best]) => ({ text: best?.text ?? "", share: Math.exp(best?.logprob ?? 0) }));
    },
    text,
  );
  const shown = await guesses(page).locator("tbody tr").allTextContents();
  expect(shown).toHaveLength(7); // the embedding and six layers
  for (const [stage, { text: best, share }] of guess.entries()) {
    expect(shown[stage]).toContain(best.replace(" ", "␣"));
    expect(shown[stage]).toContain(`${Math.round(share * 100)}%`);
  }

  await panel(page).getByRole("combobox", { name: "Layer" }).selectOption("5");
  await panel(page).getByRole("combobox", { name: "Head" }).selectOption("4");
  await expect(looks(page).locator(".finding")).toHaveText(
    "Layer 5, head 4, looks at “␣ball” 51%, “Once” 8.7%, “␣day” 5.8%.",
  );
  // The text is tinted by the same weights, and the chosen token is framed.
  const tints = [0, 1, 2].map((band) => page.locator(`#editor .look-${band}`).allTextContents());
  expect(await Promise.all(tints)).toEqual([["ball"], [], ["Once", "One", "day"]]);
  await expect(page.locator("#editor .looking")).toHaveText("Lily");

  await test.step("another token is chosen in the text, or with the buttons", async () => {
    await setCaret(page, "Once upon a".length);
    await expect(chosen(page)).toContainText("“␣a”, token 3 of ");
    await expectSeen(page);
    await expect(guesses(page).locator(".finding")).toContainText("In the text, “␣time” comes next.");
    await panel(page).getByRole("button", { name: "Token after" }).click();
    await expect(chosen(page)).toContainText("“␣time”, token 4 of ");
    await panel(page).getByRole("button", { name: "Token before" }).click();
    await expect(chosen(page)).toContainText("“␣a”, token 3 of ");
    await setCaret(page, 0);
    await expect(chosen(page)).toContainText("“Once”, token 1 of ");
    await expectSeen(page);
    await expect(looks(page).locator(".finding")).toHaveText("Layer 5, head 4, looks at “Once” 100%.");
  });
});

test("the views are tabs that work by keyboard, open from a link and survive a reload", async ({ page }) => {
  await open(page);
  const tabs = page.getByRole("tablist", { name: "View" }).getByRole("tab");
  const [ofText, ofInside] = [tabs.first(), tabs.last()];
  await expect(ofText).toHaveAttribute("aria-selected", "true");
  await ofText.focus();
  await page.keyboard.press("ArrowLeft"); // wraps around to the last tab
  await expect(ofInside).toBeFocused();
  await expect(panel(page)).toBeHidden(); // focus alone does not open the panel, because computing it takes time
  await page.keyboard.press("ArrowRight"); // wraps around to the first tab
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await expect(ofInside).toHaveAttribute("aria-selected", "true");
  await expect(ofText).toHaveAttribute("aria-selected", "false");
  await expect(ofText).toHaveAttribute("tabindex", "-1");
  await expect(page.getByRole("tabpanel", { name: "Inside", exact: true })).toBeVisible();
  expect(new URL(page.url()).hash).toBe("#view=inside");

  await page.reload();
  await expectReady(page);
  await expectSeen(page);
  await ofInside.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  await expect(ofText).toHaveAttribute("aria-selected", "true");
  await expect(panel(page)).toBeHidden();
  expect(new URL(page.url()).hash).toBe("");

  await page.evaluate(() => (location.hash = "#view=probability"));
  await expect(page.getByRole("tab", { name: "Probability" })).toHaveAttribute("aria-selected", "true");
  await expect(page.locator("#editor .band-0").first()).toBeVisible();
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

test("the model writes without a part that is switched off, until the line below the buttons is pressed", async ({
  page,
}) => {
  await open(page);
  const options = { maxNewTokens: 20, temperature: 0, heal: true, ignoreEos: true };
  const off = { at: "blocks.0.mlp_out", set: 0 };
  const [whole, changed] = await inPage(
    page,
    async ({ loadModel }, [prompt, call, each]) => {
      const model = await loadModel("models/demo/");
      const one = await model.complete(prompt, call);
      const other = await model.complete(prompt, { ...call, change: [each] });
      await model.dispose();
      return [one.text, other.text];
    },
    [text, options, off] as const,
  );
  await setLength(page, "20");
  await setOption(page, "Temperature", "0");
  await setText(page, text);
  await openInside(page);
  await expectSeen(page);
  await panel(page).getByRole("combobox", { name: "Layer" }).selectOption("1");
  const missing = figure(page, "What if a part were missing?");
  await missing.getByRole("button", { name: "Switch off layer 1’s MLP" }).click();
  const line = page.getByRole("button", { name: "1 part is switched off. Switch all on" });
  await expect(line).toBeVisible();
  await expect(missing.locator(".finding")).toHaveText(/^The guess (was|is still) “/);
  await expectAccessible(page);

  await page.getByRole("tab", { name: "Text" }).click();
  expect(await generate(page)).toBe(text + changed);
  expect(changed).not.toBe(whole);
  await line.click();
  await expect(line).toBeHidden();
  expect(await generateAnew(page, text)).toBe(text + whole);
});

test("Inside waits for the model, can be cancelled and continued, and drops what an edit makes stale", async ({
  page,
}) => {
  const release = await hold(page, "**/models/demo/**");
  await page.goto("./");
  await page.locator("#editor .cm-content").waitFor();
  await setText(page, text);
  await openInside(page);
  await expect(status(page)).toHaveText("The pictures appear once the model is loaded.");
  await expectAccessible(page);

  const releaseLook = await hold(page, "**/gpt2-inspect.js*");
  release();
  await expectReady(page);
  const cancel = panel(page).getByRole("button", { name: "Cancel" });
  await expect(cancel).toBeVisible();
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
