// A text that the browser cannot store, or whose stored records are damaged: the page says so, and loses nothing.
import { readFileSync } from "node:fs";
import { expect, test, type Page } from "@playwright/test";
import { expectEditor, openSection, openWithoutModel, setText, textOf } from "./page.js";
import { expectStored, storedTexts } from "./stored-texts.js";

const story = "A cat sat here.";
const notStored = (page: Page) => page.locator("#unstored");

test("what you write while the stored texts cannot be read survives a reload", async ({ page }) => {
  await page.addInitScript(() => {
    if (sessionStorage.getItem("visited") !== null) return; // only at the first visit
    sessionStorage.setItem("visited", "yes");
    const open = Reflect.get(IDBFactory.prototype, "open") as (...names: unknown[]) => IDBOpenDBRequest;
    IDBFactory.prototype.open = function (...names) {
      const request = open.call(this, ...names);
      if (names[0] === "gpt2-texts") request.addEventListener = () => {}; // never answers
      return request;
    };
  });
  await openWithoutModel(page);
  await expect(notStored(page)).toBeVisible();
  await setText(page, story);
  await page.reload();
  await expectEditor(page);
  expect(await textOf(page)).toBe(story);
});

test("a passing fault of the storage replaces no text", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, story);
  await expectStored(page, story);
  await page.addInitScript(() => {
    const open = Reflect.get(IDBFactory.prototype, "open") as (...names: unknown[]) => IDBOpenDBRequest;
    IDBFactory.prototype.open = function (...names) {
      if (sessionStorage.getItem("fails")) throw new DOMException("connection lost", "UnknownError");
      return open.call(this, ...names);
    };
    const wait = setTimeout;
    // The page tries again after five seconds.
    Object.assign(window, { setTimeout: (run: () => void, ms: number) => wait(run, ms === 5000 ? 0 : ms) });
  });
  await page.evaluate(() => sessionStorage.setItem("fails", "yes"));
  await page.reload();
  await expectEditor(page);
  await expect(notStored(page)).toBeVisible();
  await page.evaluate(() => sessionStorage.removeItem("fails"));
  await page.reload(); // a page that is left stores at once what it has to store
  await expectEditor(page);
  expect(await textOf(page)).toBe(story);
  expect(new Set((await storedTexts(page)).map(({ text }) => text))).toEqual(new Set([story]));
});

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

test("unreadable records neither block the page nor are overwritten", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, story);
  await expectStored(page, story);
  await page.goto("about:blank#");
  await page.goto("./icons/icon.svg");
  const damaged = () =>
    page.evaluate(async () => {
      const opening = indexedDB.open("gpt2-texts");
      await new Promise((resolve) => (opening.onsuccess = resolve));
      const texts = opening.result.transaction("texts", "readwrite").objectStore("texts");
      const all = texts.getAll();
      await new Promise((resolve) => (all.onsuccess = resolve));
      const records = all.result as { content: unknown }[];
      const whole = records.filter(({ content }) => content !== 1);
      for (const record of whole) texts.put({ ...record, content: 1 });
      opening.result.close();
      return whole.length;
    });
  // The page that was left may store a version while this damages the others.
  await expect.poll(damaged).toBe(0);
  const before = (await storedTexts(page)).length;
  await page.goto("./");
  await expectEditor(page);
  expect(await textOf(page)).toBe("Once upon a time");
  await setText(page, "Anew.");
  await expectStored(page, "Anew.");
  expect((await storedTexts(page)).length).toBeGreaterThan(before);
});
