// A text that the browser cannot store: the page says so, and loses nothing.
import { readFileSync } from "node:fs";
import { expect, test, type Page } from "@playwright/test";
import { expectEditor, openSection, openWithoutModel, setText, textOf } from "./page.js";

const story = "A cat sat here.";
const notStored = (page: Page) => page.locator("#unstored");

test("if the browser refuses storage, the page says so at once and offers the text as a file; the library says so, too", async ({
  page,
}) => {
  await page.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException("refused", "SecurityError");
    };
  });
  await page.goto("./");
  await expect(notStored(page)).toContainText("does not allow it");
  await expectEditor(page);
  await setText(page, story);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as a file" }).click();
  const file = await (await download).path();
  expect(readFileSync(file, "utf8")).toBe(story);

  const library = page.locator("#library-panel");
  await openSection(page, "library");
  await expect(library).toContainText(
    "Your texts cannot be shown: this browser, or this window, does not allow it.",
  );
  await library.getByRole("button", { name: "New text", exact: true }).click();
  await expect(library.getByRole("status")).toHaveText(
    "Nothing was changed: this browser, or this window, does not allow it.",
  );
  expect(await textOf(page)).toBe(story);
});

test("a full disk shows a notice, which disappears once there is room", async ({
  page,
  context,
  baseURL,
}) => {
  await openWithoutModel(page);
  const session = await context.newCDPSession(page);
  const origin = new URL(baseURL ?? "").origin;
  await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 1000 });
  await setText(page, "A cat. ".repeat(100_000));
  await expect(notStored(page)).toContainText("no room left");
  await session.send("Storage.overrideQuotaForOrigin", { origin });
  await expect(notStored(page)).toBeHidden();
  await page.reload();
  await expectEditor(page);
  expect((await textOf(page)).length).toBe(700_000);
});
