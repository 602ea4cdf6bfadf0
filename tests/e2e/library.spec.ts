// The library: all texts of the page by their names, and the actions on them.
import { readFileSync } from "node:fs";
import { expect, test, type Locator, type Page } from "@playwright/test";
import { violationsIn } from "./axe.js";
import {
  expectEditor,
  expectFinished,
  generate,
  open,
  openSection,
  openWithoutModel,
  setOption,
  setText,
  showView,
  startLongText,
  textOf,
} from "./page.js";

const panel = (page: Page) => page.locator("#library-panel");
const status = (page: Page) => panel(page).getByRole("status");
const row = (page: Page, name: string): Locator =>
  panel(page)
    .locator("li")
    .filter({ has: page.getByText(name, { exact: true }) });
const names = (page: Page) => panel(page).locator(".text-name").allTextContents();
const press = (page: Page, name: string) => panel(page).getByRole("button", { name, exact: true }).click();

/** Chooses `action` of the text `name`. */
async function choose(page: Page, name: string, action: string): Promise<void> {
  const shown = row(page, name).getByRole("button", { name: action });
  if (!(await shown.isVisible()))
    await row(page, name)
      .getByRole("button", { name: /^More for/ })
      .click();
  await shown.click();
}

async function rename(page: Page, from: string, to: string): Promise<void> {
  await choose(page, from, "Rename");
  await panel(page).getByLabel(`Name of ${from}`).fill(to);
  await page.keyboard.press("Enter");
  await expect(row(page, to)).toBeVisible();
}

/** Begins the texts one after the other; the last one stays open. */
async function write(page: Page, ...texts: string[]): Promise<void> {
  await openSection(page, "library");
  for (const [place, text] of texts.entries()) {
    if (place > 0) {
      await openSection(page, "library");
      await press(page, "New text");
      await expect.poll(() => textOf(page)).toBe("");
    }
    await setText(page, text);
  }
  await expect.poll(() => names(page)).toHaveLength(texts.length);
}

test("the button near the title shows the list; a text that is opened comes back whole", async ({ page }) => {
  await open(page);
  await setOption(page, "Tokens", "6");
  await generate(page);
  const first = await generate(page);
  await page.locator("#library-open").click();
  await expect(page.locator("#library summary")).toBeFocused();
  await press(page, "New text");
  await expect.poll(() => textOf(page)).toBe("");
  await expect(page.locator("#undo")).toHaveAttribute("aria-disabled", "true");
  await expect(page.locator("#editor .cm-content")).toBeFocused();
  await expect(page.locator("#finish")).toHaveText("Opened: New text");
  await page.keyboard.type("The second one.");
  await expect(page.locator("#finish")).toHaveText("");
  await expect(row(page, "The second one.").getByRole("button").first()).toHaveAttribute(
    "aria-current",
    "true",
  );
  await panel(page).locator("li button").filter({ hasText: "Once upon" }).click();
  await expect.poll(() => textOf(page)).toBe(first);
  await expect(page.locator("#editor .models").first()).toBeVisible();
  await page.locator("#undo").click();
  await page.locator("#undo").click();
  expect(await textOf(page)).toBe("Once upon a time");
  await page.locator("#redo").click();
  await page.locator("#redo").click();
  expect(await textOf(page)).toBe(first);
});

test("each text has its own options, branches and seed; the model stops before another one is opened", async ({
  page,
}) => {
  await open(page);
  await setOption(page, "Seed", "7");
  await setOption(page, "Tokens", "8");
  await generate(page);
  await page.locator("#editor .models").first().click();
  await page.locator("#token li button[aria-pressed=false]").first().click();
  await expect(page.locator("#branches")).toBeVisible();
  await expectFinished(page);
  const first = await textOf(page);
  await openSection(page, "library");
  await press(page, "New text");
  await expect.poll(() => textOf(page)).toBe("");
  await expect(page.locator("#branches")).toBeHidden();
  await setText(page, "Once there was");
  await setOption(page, "Seed", "");
  await startLongText(page);
  await panel(page).locator("li button").filter({ hasText: "Once upon" }).click();
  await expect.poll(() => textOf(page)).toBe(first);
  await expect(page.locator("#branches")).toBeVisible();
  await expect(page.locator("#option-seed")).toHaveValue("7");
  await expect(page.locator("#generate")).toHaveText("Write on");
  await expect(row(page, "Once there was")).toHaveCount(0);
  const second = panel(page).locator("li button").filter({ hasText: "Once there was" });
  await second.click();
  await expect.poll(() => textOf(page)).toMatch(/^Once there was ./);
  await expect(page.locator("#option-seed")).toHaveValue("");
  await expect(page.locator("#editor .models").first()).toBeVisible();
});

for (const how of ["with locks", "without locks, as on a host without TLS"])
  test(`${how}, a text that another tab has is neither opened nor deleted; its new name shows there`, async ({
    page,
    context,
  }) => {
    if (how !== "with locks")
      await context.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, "locks"));
    await openWithoutModel(page);
    await write(page, "Of the first tab.", "Of the second tab.");
    await row(page, "Of the first tab.").getByRole("button").first().click();
    await expect.poll(() => textOf(page)).toBe("Of the first tab.");
    const other = await context.newPage();
    await openWithoutModel(other);
    expect(await textOf(other)).toBe("Of the second tab.");
    await openSection(other, "library");
    await expect(row(other, "Of the first tab.")).toContainText("open in another tab");
    await row(other, "Of the first tab.").getByRole("button").first().click();
    const refused = "Of the first tab. is open in another tab: close it there first.";
    await expect(status(other)).toHaveText(refused);
    expect(await textOf(other)).toBe("Of the second tab.");
    await choose(other, "Of the first tab.", "Delete");
    await expect(status(other)).toHaveText(refused);
    await expect(row(other, "Of the first tab.")).toBeVisible();
    await rename(other, "Of the first tab.", "Renamed");
    await expect(status(other)).toHaveText(""); // the row shows the name before it is stored
    await page.bringToFront();
    await page.locator("#library summary").click();
    await page.locator("#library summary").click();
    await expect(row(page, "Renamed")).toContainText("open");
    await setText(page, "Of the first tab, changed.");
    await page.reload();
    await expectEditor(page);
    await openSection(page, "library");
    await expect(row(page, "Renamed")).toBeVisible();
  });

test("all texts are exported into one file, and imported from it as new texts, each once", async ({
  page,
  browser,
}, testInfo) => {
  await open(page);
  await write(page, "The first.", "The second.");
  await rename(page, "The first.", "One");
  await showView(page, "Sees");
  await page.getByLabel("Note", { exact: true }).fill("It is dark.");
  await generate(page);
  await page.getByRole("button", { name: "Undo" }).click(); // the model's part is empty now
  await expect.poll(() => textOf(page)).toBe("The second.");
  const coming = page.waitForEvent("download");
  await press(page, "Export all");
  const file = testInfo.outputPath("texts.json");
  await (await coming).saveAs(file);
  const exported = JSON.parse(readFileSync(file, "utf8")) as { version: number; texts: { text: string }[] };
  expect(exported.version).toBe(1);
  const fields = { remember: "", note: "It is dark." };
  expect(exported.texts.sort((one, other) => one.text.localeCompare(other.text))).toEqual([
    expect.not.objectContaining({ fields }),
    expect.objectContaining({ text: "The second.", fields }),
  ]);
  await panel(page).locator("input[type=file]").setInputFiles(file);
  await expect(status(page)).toHaveText("0 texts imported, 2 already here.");

  const context = await browser.newContext();
  const fresh = await context.newPage();
  await openWithoutModel(fresh);
  await openSection(fresh, "library");
  await panel(fresh).locator("input[type=file]").setInputFiles(file);
  await expect(status(fresh)).toHaveText("2 texts imported, 0 already here.");
  await row(fresh, "One").getByRole("button").first().click();
  await expect.poll(() => textOf(fresh)).toBe("The first.");
  await row(fresh, "The second.").getByRole("button").first().click();
  await showView(fresh, "Sees");
  await expect(fresh.getByLabel("Note", { exact: true })).toHaveValue("It is dark.");
  await context.close();
});

test("the library is accessible on a phone and on a desktop, and its targets suit a finger", async ({
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await openWithoutModel(page);
  await write(page, "The first.", "The second.");
  await openSection(page, "library");
  await row(page, "The first.").getByRole("button", { name: /^More/ }).click();
  expect(await violationsIn(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await violationsIn(page)).toEqual([]);
  const boxes = await panel(page)
    .locator("button:visible, input:visible")
    .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON() as DOMRect));
  for (const box of boxes) expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(44);
  await row(page, "The first.").getByRole("button").first().click();
  await expect(page.locator("#panel")).toBeHidden(); // an open panel would cover the text
  expect(await textOf(page)).toBe("The first.");
});
