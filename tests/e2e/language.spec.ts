// The page in another language than English: chosen by the browser's languages, and by its reader.
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { violationsIn } from "./axe.js";
import { expectReady, generate, open, setText, textOf } from "./page.js";

const words = /\/assets\/de-[^/]*\.js$/;

/** Whether the words of German are asked for while the page loads. */
function watchWords(page: Page): () => boolean {
  let isAsked = false;
  page.on("request", (request) => (isAsked ||= words.test(request.url())));
  return () => isAsked;
}

/** How much has moved so far, as the Layout Instability API counts it. */
const shiftOf = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => {
          const shifts = list.getEntries() as (PerformanceEntry & { value: number })[];
          resolve(shifts.reduce((sum, { value }) => sum + value, 0));
        }).observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve(0), 1000); // where nothing has moved, nobody is called
      }),
  );

test("the page is English for who reads that first, and fetches no other words", async ({ page }) => {
  const isAsked = watchWords(page);
  await open(page);
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await expect(page.getByLabel("Language")).toHaveValue("en");
  expect(isAsked()).toBe(false);
  expect(await shiftOf(page)).toBeLessThan(0.01);
});

test.describe("for who reads German", () => {
  test.use({ locale: "de-AT" });

  /** The sentences of the page that are the same in English. */
  const english = /\b(?:the|and|with|of this|token(?:s)? per)\b/;

  test("all that the page says is German, in numbers, too; the text stays what it is", async ({ page }) => {
    await page.goto("./");
    await expect(page.locator("#engine")).toContainText("Thread", { timeout: 30_000 });
    await expect(page.locator("html")).toHaveAttribute("lang", "de");
    await expect(page).toHaveTitle("GPT-2 in deinem Browser");
    await expect(page.locator("#model")).toHaveText(/^\d+(?:,\d)? Millionen Parameter, q8$/);
    await expect(page.locator("#editor")).toHaveAttribute("lang", ""); // nobody knows what its visitor writes
    await page.getByText("Einstellungen", { exact: true }).click();
    await page.getByLabel("Token", { exact: true }).fill("12");
    await page.getByRole("button", { name: "Schreiben", exact: true }).click();
    await expect(page.locator("#finish")).toHaveText(/^So viele Token wie verlangt\. Startwert \d+\.$/, {
      timeout: 30_000,
    });
    await expect(page.locator("#speed")).toHaveText(/^[\d.,]+ Token\/s$/);
    for (const part of [page.locator("#editor .models").first(), page.locator("#spoken")])
      await expect(part).toHaveAttribute("lang", "en"); // but all know what the demo does
    await page.getByRole("combobox", { name: "Ansicht" }).selectOption("Chancen");
    await expect(page.locator("#token dt").first()).toHaveText("Token");
    await expect(page.locator("#token li .share").first()).toHaveText(/^(?:< )?\d+,\d\s%$/);
    await page.getByText("Zustand von Rechenwerk und Gerät").click();
    await expect(page.locator("#environment-list li").first()).toContainText("SIMD: ja.");
    await page.getByRole("button", { name: "Tasten" }).click();
    const said = await page.evaluate(() => {
      // What the library says of the browser is English everywhere.
      for (const part of document.querySelectorAll(
        "#editor, #openings, #spoken, #starting, #token, #device-panel",
      ))
        part.remove();
      const named = [...document.querySelectorAll("[aria-label], [title], [placeholder]")].flatMap((part) =>
        ["aria-label", "title", "placeholder"].map((name) => part.getAttribute(name) ?? ""),
      );
      return [document.body.innerText, ...named].join("\n");
    });
    expect(said).not.toMatch(english);
    expect(said).toContain("Vorschläge");
  });

  test("an error is told in German around what the library says", async ({ page }) => {
    await page.goto("./?model=none");
    await expect(page.getByRole("alert")).toContainText("Das Modell konnte nicht geladen werden: ");
    await expect(page.getByRole("button", { name: "Noch einmal" })).toBeVisible();
  });

  test("no word is seen that changes, and nothing moves, however late the words come", async ({ page }) => {
    await page.route(words, async (route) => {
      await new Promise((later) => setTimeout(later, 800));
      await route.continue();
    });
    await page.addInitScript(() => {
      const seen = ((globalThis as unknown as { seen: string[] }).seen = [] as string[]);
      const look = () => {
        const where = document.querySelector<HTMLElement>("h1 span");
        if (where && getComputedStyle(where).visibility === "visible") seen.push(where.innerText);
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    await page.goto("./");
    await expect(page.locator("#engine")).toContainText("Thread", { timeout: 30_000 });
    const seen = await page.evaluate(() => [...new Set((globalThis as unknown as { seen: string[] }).seen)]);
    expect(seen).toEqual(["in deinem Browser"]);
    expect(await shiftOf(page)).toBeLessThan(0.01);
  });

  test("the page is English where the words do not come", async ({ page }) => {
    await page.route(words, (route) => route.abort());
    await open(page);
    await expect(page.locator("html")).toHaveAttribute("lang", "en");
    await expect(page.getByText("It writes on from where you stop.")).toBeVisible();
  });

  test("the page is English, and works, where the words never end coming", async ({ page }) => {
    await page.route(words, () => undefined);
    await page.goto("./", { waitUntil: "commit" }); // what is asked for is never there
    await expectReady(page);
    await expect(page.locator("html")).toHaveAttribute("lang", "en");
    await expect(page.locator("html")).not.toHaveAttribute("data-awaits");
    await generate(page);
  });
});

test("another language is chosen at the foot of the page, and kept, as is the text", async ({ page }) => {
  await open(page);
  await setText(page, "A cat sat here.");
  await page.getByLabel("Language").selectOption("Deutsch");
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await expect(page.getByLabel("Sprache")).toHaveValue("de");
  await expect(page.locator("#editor .cm-content")).toBeVisible({ timeout: 30_000 });
  expect(await textOf(page)).toBe("A cat sat here.");
  // What can be undone is kept, too, and whose it was.
  await page.getByRole("button", { name: "Schreiben", exact: true }).click();
  await expect(page.locator("#finish")).toContainText("Startwert", { timeout: 30_000 });
  const written = await textOf(page);
  const inkOf = () => page.locator("#editor .models").allTextContents();
  const ink = await inkOf();
  await page.getByRole("button", { name: "Rückgängig" }).click();
  expect(await textOf(page)).toBe("A cat sat here.");
  await page.getByLabel("Sprache").selectOption("English");
  await expectReady(page);
  expect(await textOf(page)).toBe("A cat sat here.");
  await page.getByRole("button", { name: "Redo" }).click();
  expect(await textOf(page)).toBe(written);
  expect((await inkOf()).join("")).toBe(ink.join(""));
  for (const before of ["A cat sat here.", "Once upon a time"]) {
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await textOf(page)).toBe(before);
  }
  await page.getByLabel("Language").selectOption("Deutsch");
  await expect(page.getByLabel("Sprache")).toHaveValue("de");
  await page.goto("./?threads=1"); // anew, not once more
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await page.getByLabel("Sprache").selectOption("English");
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await expect(page.getByRole("button", { name: "Generate", exact: true })).toBeEnabled();
});

test("who has picked a model's files is asked before another language takes them away", async ({ page }) => {
  await open(page);
  await page.locator("#chooser summary").click();
  const demo = resolve(import.meta.dirname, "../../web/models/demo");
  await page.locator("#pick-files").setInputFiles(readdirSync(demo).map((file) => resolve(demo, file)));
  await expect(page.locator("#chooser-name")).not.toHaveText("demo", { timeout: 30_000 });
  const name = (await page.locator("#chooser-name").textContent()) ?? "";
  await expectReady(page);
  await page.getByLabel("Language").selectOption("Deutsch");
  const asked = page.getByRole("dialog");
  await expect(asked).toContainText(`${name} comes from files of this device`);
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(asked).toBeHidden();
  await expect(page.getByLabel("Language")).toHaveValue("en");
  await expect(page.locator("#chooser-name")).toHaveText(name);
  await page.getByLabel("Language").selectOption("Deutsch");
  await asked.getByRole("button", { name: "Change it" }).click();
  await expect(page.getByLabel("Sprache")).toHaveValue("de");
});
