// A text branches where another token was chosen. Branches are opened, named, removed and compared.
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible, violationsIn } from "./axe.js";
import {
  expectFinished,
  expectGrowth,
  expectIdle,
  expectReady,
  open,
  setLength,
  setOption,
  setText,
  showView,
  textOf,
} from "./page.js";

const text = (page: Page) => page.getByRole("textbox", { name: "Text" });
const alternatives = (page: Page) => page.getByRole("dialog", { name: "What could go here" });
const branches = (page: Page) => page.getByRole("region", { name: "Branches" });
const undo = (page: Page) => page.getByRole("button", { name: "Undo" });
const redo = (page: Page) => page.getByRole("button", { name: "Redo" });

const given = "Once upon a time there was a big red dog";

/** Chooses the most probable other token for the one at the caret. Returns its text. */
async function branch(page: Page): Promise<string> {
  await text(page).press("Alt+ArrowDown");
  await expect(alternatives(page).getByRole("listitem")).toHaveCount(10);
  const other = alternatives(page)
    .getByRole("button", { pressed: false, disabled: false })
    .and(alternatives(page).getByRole("listitem").getByRole("button"));
  const name = (await other.first().locator(".name").textContent()) ?? "";
  await other.first().press("Enter");
  return name.replace("␣", " ");
}

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
  await setLength(page, "6");
  await setText(page, given);
  await showView(page, "Probability");
  const name = await branch(page);
  await expectIdle(page);
  const branched = await textOf(page);
  expect(branched.startsWith(`Once upon a time there was a big red${name}`)).toBe(true);
  expect(branched.length).toBeGreaterThan(given.length);
  await expect(branches(page).getByRole("listitem")).toHaveCount(2);
  // Each branch is named by its first words that differ from the other.
  await expect(branches(page).locator(".words")).toHaveText(["dog", wordsFrom(branched, "red")]);
  const first = branches(page).getByRole("button", { name: "Go to The dog" });
  const second = branches(page).getByRole("button", { name: /^Go to “/ });

  await test.step("two branches are compared, and the other one is taken", async () => {
    await branches(page).getByRole("button", { name: "Compare" }).click();
    const dialog = page.getByRole("dialog", { name: "Compare" });
    await expect(dialog.locator("p").first()).toContainText(wordsFrom(branched, "red").replace(/…$/, ""));
    await expect(dialog.locator("p").last()).toHaveText(given);
    await expect(dialog.locator("p").last()).toHaveAttribute("dir", "auto");
    await expect(dialog.locator("p").last()).toHaveCSS("unicode-bidi", "plaintext"); // each paragraph has its own direction
    expect(await violationsIn(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Go on with the other" }).click();
    expect(await textOf(page)).toBe(given);
  });

  await test.step("a branch is named and removed, and Undo reverts both", async () => {
    await branches(page).getByRole("button", { name: "Name First" }).click();
    await page.keyboard.type("The dog");
    await page.keyboard.press("Enter");
    await expect(first).toHaveAttribute("aria-current", "true");
    await undo(page).click();
    await expect(branches(page).getByRole("button", { name: "Go to First" })).toBeVisible();
    await redo(page).click();
    await expect(branches(page).getByRole("button", { name: "Remove The dog" })).toHaveCount(0); // all other branches start from it
    await second.click();
    await branches(page)
      .getByRole("button", { name: /^Remove “/ })
      .click();
    await expect(page.locator("#finish")).toHaveText(/ is removed; Undo brings it back\.$/);
    await expect(branches(page).getByRole("listitem")).toHaveCount(1);
    expect(await textOf(page)).toBe(given);
    await expect(first).toBeFocused();
    await undo(page).click();
    await expect(branches(page).getByRole("listitem")).toHaveCount(2);
    await expect(first).toHaveAttribute("aria-current", "true");
    expect(await violationsIn(page)).toEqual([]);
  });

  await test.step("after a reload the branches are there, and a step to another one is undone", async () => {
    await page.reload();
    await expectReady(page);
    await second.click();
    expect(await textOf(page)).toBe(branched);
    await text(page).focus();
    await page.keyboard.press("Control+Z");
    expect(await textOf(page)).toBe(given);
    await expect(first).toHaveAttribute("aria-current", "true");
    // Visiting a branch and leaving it does not change its text.
    await second.click();
    expect(await textOf(page)).toBe(branched);
    await first.click();
    expect(await textOf(page)).toBe(given);
  });

  await test.step("a step to another branch stops the model, and each keeps its own text", async () => {
    await setLength(page, "4096");
    await page.locator("#generate").click();
    await expectGrowth(page, 20);
    await second.click();
    await expectIdle(page);
    expect(await textOf(page)).toBe(branched);
    await first.click();
    expect((await textOf(page)).length).toBeGreaterThan(given.length + 20);
  });
});

test("a new branch is announced with a way back, until you undo it or continue in it", async ({ page }) => {
  await open(page);
  await setLength(page, "60");
  const note = page.locator("#note");
  const branchAnew = async () => {
    await setText(page, given);
    await branch(page);
    await expect(note.getByRole("status")).toHaveText(
      /^Now the text continues with “.+”\. The other text is kept/,
    );
  };
  await branchAnew();
  await expectFinished(page);
  await expect(note).toBeVisible(); // the model has written meanwhile
  await expectAccessible(page);
  await note.getByRole("button", { name: "Back to the other" }).click();
  await expect.poll(() => textOf(page)).toBe(given);
  await expect(note).toBeHidden();

  await branchAnew();
  await expectFinished(page);
  const count = await branches(page).getByRole("listitem").count();
  await undo(page).click(); // what the model wrote
  await undo(page).click(); // the branch
  await expect(note).toBeHidden();
  expect(await textOf(page)).toBe(given);
  await expect(branches(page).getByRole("listitem")).toHaveCount(count - 1);

  await branchAnew();
  await expectFinished(page);
  await text(page).press("Control+End");
  await page.keyboard.type(" I go on.");
  await expect(note).toBeHidden();
});

test("the branches are beside the text, inside the window, with their actions in sight", async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 480 });
  await open(page);
  await setOption(page, "Tokens", "1");
  for (let count = 2; count <= 8; count += 1) {
    await setText(page, given);
    await branch(page);
    await expect(branches(page).getByRole("listitem")).toHaveCount(count);
    await expect(page.locator("#generate")).toHaveText("Write on");
  }
  await page.locator("#panel-close").click(); // it stood beside the text, and covered nothing of it
  for (const width of [1024, 1100, 1280, 1440]) {
    await page.setViewportSize({ width, height: 480 });
    const [beside, column] = await Promise.all([
      branches(page).boundingBox(),
      page.locator("#form").boundingBox(),
    ]);
    if (!beside || !column) throw new Error("it is not shown");
    expect(column.x, `at ${width} px`).toBeGreaterThan(0);
    expect(beside.x, `at ${width} px`).toBeGreaterThan(column.x + column.width);
    expect(beside.x + beside.width, `at ${width} px`).toBeLessThan(width);
    for (const name of ["Compare", "Name", "Remove"])
      await expect(branches(page).getByRole("button", { name })).toBeInViewport({ ratio: 1 });
  }
});
