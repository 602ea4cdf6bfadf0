// Settings: presets, sliders, and a picture of how they change the model's prediction.
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible, violationsIn } from "./axe.js";
import {
  generate,
  open,
  openSection,
  seedOf,
  setLength,
  setOption,
  setText,
  startLongText,
  stop,
} from "./page.js";

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });

test("presets set the numbers, sliders move them, and the picture shows both", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await open(page);
  await setText(page, "Once upon a time there was a");
  await openSection(page, "options");
  const picture = page.locator("#picture-words");
  await expect(picture).toContainText(/^\d+ of the 100 most probable tokens can come next: “␣/, {
    timeout: 20_000,
  });
  const staying = async () => Number.parseInt((await picture.textContent()) ?? "", 10);
  const balanced = await field(page, "Temperature").inputValue();

  const sentence = "also takes unlikely tokens";
  await expect(page.getByText(sentence)).toBeVisible(); // also without a pointer
  await expect(page.getByRole("button", { name: "Wild" })).toHaveAccessibleDescription(sentence);
  await page.getByRole("button", { name: "Wild" }).click();
  await expect(field(page, "Temperature")).toHaveValue("1.3");
  await expect(field(page, "Top k")).toHaveValue("0");
  await expect(field(page, "Temperature slider")).toHaveValue("1.3");
  const wild = await staying();
  await page.getByRole("button", { name: "Precise" }).click();
  await expect(field(page, "Temperature")).toHaveValue("0.4");
  expect(await staying()).toBeLessThan(wild);
  await page.getByRole("button", { name: "Balanced" }).click();
  await expect(field(page, "Temperature")).toHaveValue(balanced);

  await field(page, "Top p").fill("1");
  await field(page, "Top k slider").fill("7");
  await expect(field(page, "Top k")).toHaveValue("7");
  await expect(picture).toContainText("7 of the 100");
  await field(page, "Temperature slider").fill("0");
  await expect(picture).toHaveText(/^1 of the 100 most probable tokens can come next: “␣\S+” 100%$/);
  await field(page, "Temperature").fill("9"); // refused: the picture stays as it was
  await expect(picture).toContainText("1 of the 100");
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

test("the last seed writes the same text again, also after a run that was stopped", async ({ page }) => {
  await open(page);
  await setLength(page, "20");
  await setOption(page, "Temperature", "2");
  const same = page.getByRole("button", { name: "Same again" });
  await expect(same).toBeHidden();
  const text = await generate(page);
  const seed = await seedOf(page);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(same).toBeEnabled(); // the text has just ended
  await same.press("Enter");
  await expect(field(page, "Seed")).toHaveValue(seed);
  await expect(same).toBeFocused();
  await field(page, "Seed").fill("4294967295"); // the longest is shown whole
  expect(await field(page, "Seed").evaluate((input) => input.scrollWidth - input.clientWidth)).toBe(0);
  await same.press("Enter");
  await expect(page.locator("#finish")).toHaveText(
    `Seed ${seed} is set: from the same place it gives the same text.`,
  );
  expect(await violationsIn(page)).toEqual([]);
  expect(await generate(page)).toBe(text);

  await field(page, "Seed").fill("");
  await startLongText(page);
  await stop(page);
  await expect(same).not.toContainText(seed); // a run that was stopped has a seed, too
});
