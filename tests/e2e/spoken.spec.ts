// What a screen reader announces while a model writes: a log of one session.
import { expect, test, type Page } from "@playwright/test";
import { generate, open, prepareLongText, setLength, setOption, setText, textOf, writeOn } from "./page.js";

const spoken = (page: Page) => page.locator("#spoken > div");

/** Shortens the page's long timers, so that the test does not wait for speech. */
async function hurry(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const set = window.setTimeout.bind(window);
    Object.assign(window, { setTimeout: (run: () => void, ms = 0) => set(run, ms > 300 ? ms / 50 : ms) });
  });
}

test("each sentence is announced whole and in order, and the end after the last", async ({ page }) => {
  await hurry(page);
  await open(page);
  await setText(page, "Once upon a time there was a dog.");
  await setLength(page, "60");
  await setOption(page, "Seed", "3");
  const written = (await generate(page)).slice("Once upon a time there was a dog.".length);
  await expect(spoken(page).last()).toHaveText(/^Finished, \d+ tokens/);
  const all = await spoken(page).allTextContents();
  expect(all.length).toBeGreaterThan(3);
  expect(all.slice(0, -1).join(" ").split(/\s+/)).toEqual(written.trim().split(/\s+/));
  for (const sentence of all.slice(0, -2)) expect(sentence).toMatch(/[.!?…]["”’')\]]*$|\S$/);
  await expect(page.locator("#spoken")).toHaveRole("log");
  await expect(page.locator("#finish")).not.toHaveAttribute("role"); // a live role would announce it too early
  await expect(spoken(page).last()).toHaveAttribute("lang", "en");
});

test("stopping the model is announced, too", async ({ page }) => {
  await open(page);
  await prepareLongText(page);
  await writeOn(page);
  await expect.poll(async () => (await textOf(page)).length).toBeGreaterThan(400);
  await page.keyboard.press("Escape");
  await expect(page.locator("#finish")).toContainText("Stopped,");
  await expect(spoken(page).last()).toHaveText(/^Stopped, /);
  expect(await spoken(page).count()).toBeLessThan(6); // most of the text was not announced
});

test("reading aloud can be switched off, also for the next visit", async ({ page }) => {
  await hurry(page);
  await open(page);
  await setOption(page, "Tokens", "30");
  const option = page.getByLabel("Read aloud while it writes");
  await expect(option).toBeChecked();
  await option.uncheck();
  await page.reload();
  await open(page);
  await setOption(page, "Tokens", "30");
  await expect(option).not.toBeChecked();
  await generate(page);
  await expect(spoken(page).last()).toHaveText(/^Finished/);
  expect((await spoken(page).allTextContents()).filter((said) => !said.includes("Finished"))).toEqual([]);
  await option.check();
  await setText(page, "Once upon a time there was a dog.");
  await generate(page);
  await expect.poll(() => spoken(page).count()).toBeGreaterThan(2);
});
