// The page in another language than English: chosen by the browser's languages, and by its reader.
import { expect, test, type Page, type Route } from "@playwright/test";
import {
  expectEditor,
  expectGrowth,
  expectReady,
  generate,
  hold,
  open,
  openSection,
  openWithoutModel,
  partsBeyondWindow,
  setText,
  showView,
  startLongText,
  textOf,
} from "./page.js";

const words = /\/assets\/de-[^/]*\.js$/;

/** Whether the page requests its German words while it loads. */
function watchWords(page: Page): () => boolean {
  let isAsked = false;
  page.on("request", (request) => (isAsked ||= words.test(request.url())));
  return () => isAsked;
}

/** The layout shift so far, as the Layout Instability API counts it. */
const shiftOf = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => {
          const shifts = list.getEntries() as (PerformanceEntry & { value: number })[];
          resolve(shifts.reduce((sum, { value }) => sum + value, 0));
        }).observe({ type: "layout-shift", buffered: true });
        // If nothing has moved, no observer is called. What has moved is reported when it is painted.
        requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(() => resolve(0))));
      }),
  );

test("the page is English for English readers, and fetches no other language", async ({ page }) => {
  const isAsked = watchWords(page);
  await open(page);
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await expect(page.getByLabel("Language")).toHaveValue("en");
  expect(isAsked()).toBe(false);
  expect(await shiftOf(page)).toBeLessThan(0.01);
});

test.describe("for German readers", () => {
  test.use({ locale: "de-AT" });

  test("an error of the library is shown within a German sentence", async ({ page }) => {
    await page.goto("./?model=none");
    await expect(page.getByRole("alert")).toContainText("Das Modell konnte nicht geladen werden: ");
    await expect(page.getByRole("button", { name: "Erneut versuchen" })).toBeVisible();
  });

  test("no visible word changes and nothing moves, however late the words arrive", async ({ page }) => {
    const release = await hold(page, words);
    await page.addInitScript(() => {
      const seen = ((globalThis as unknown as { seen: string[] }).seen = [] as string[]);
      const look = () => {
        const where = document.querySelector<HTMLElement>("h1 span");
        if (where && getComputedStyle(where).visibility === "visible") seen.push(where.innerText);
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    const asked = page.waitForRequest(words);
    await page.goto("./", { waitUntil: "commit" }); // the words are held back
    await asked;
    // English words would be visible by now.
    await page.evaluate(
      () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
    );
    release();
    await expect(page.locator("#engine")).toContainText("Thread");
    const seen = await page.evaluate(() => [...new Set((globalThis as unknown as { seen: string[] }).seen)]);
    expect(seen).toEqual(["in deinem Browser"]);
    expect(await shiftOf(page)).toBeLessThan(0.01);
  });

  for (const [how, answer] of [
    ["cannot be fetched", (route: Route) => route.abort()],
    ["never finish loading", () => undefined],
  ] as const)
    test(`the page is English and works if the words ${how}`, async ({ page }) => {
      await page.route(words, answer);
      await page.goto("./", { waitUntil: "commit" }); // the requested file may never arrive
      await expectReady(page);
      await expect(page.locator("html")).toHaveAttribute("lang", "en");
      await expect(page.locator("html")).not.toHaveAttribute("data-awaits");
      await expect(
        page.getByText("It continues your text, and nothing you type leaves this device."),
      ).toBeVisible();
      await generate(page);
    });
});

/** All words of the page except the text and `others`, without numbers, and the accessible names of its parts. */
const wordsOf = (page: Page, others = "none"): Promise<string[]> =>
  page.evaluate((more) => {
    // Skips the names of branches, which visitors choose, and times, which differ.
    const without = `#editor, #openings, #spoken, #starting, #branch-list, #language, #loading, #first-token, ${more}`;
    const isElsewhere = (part: Element) => part.closest(without);
    const texts = [...document.querySelectorAll("body *")]
      .filter((part) => !isElsewhere(part))
      .flatMap((part) => [...part.childNodes])
      .filter((node) => node.nodeType === Node.TEXT_NODE)
      .map((node) => node.nodeValue ?? "");
    const named = [...document.querySelectorAll("[aria-label], [title], [placeholder]")]
      .filter((part) => !isElsewhere(part))
      .flatMap((part) => ["aria-label", "title", "placeholder"].map((name) => part.getAttribute(name) ?? ""));
    return [document.title, ...texts, ...named]
      .map((words) =>
        words
          .replace(/\b[kMG]B\b/g, "B")
          .replace(/[<\d.,\s\u00a0]+/g, " ")
          .trim(),
      )
      .filter((words) => /\p{L}{2}/u.test(words));
  }, others);

/** Words that show that a sentence is English. */
const english = /\b(?:the|and|with|of this|token(?:s)? per)\b/;

/** The page, in which every part is open, is German, and writes numbers as German does. */
async function expectGerman(page: Page): Promise<void> {
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await expect(page).toHaveTitle(/ – GPT-2$/);
  await expect(page.locator("#editor")).toHaveAttribute("lang", ""); // the language of the visitor's text is unknown
  for (const part of [page.locator("#editor .models").first(), page.locator("#spoken")])
    await expect(part).toHaveAttribute("lang", "en"); // but the demo writes English
  await expect(page.locator("#model")).toHaveText(/^\d+(?:,\d)? Millionen Parameter, q4$/);
  await expect(page.locator("#token dt").first()).toHaveText("Rang");
  await expect(page.locator("#token li .share").first()).toHaveText(/^(?:< )?\d+,\d\s%$/);
  await expect(page.locator("#environment-list li").first()).toContainText("SIMD: ja.");
  // The library's messages about the browser are always in English.
  const words = (await wordsOf(page, "#token, #device-panel, #picture-words")).join("\n");
  expect(words).not.toMatch(english);
  expect(words).toContain("Vorschläge");
}

/** Opens every part that shows words, with the same text and the same branch each time. */
async function openAll(page: Page): Promise<void> {
  await page.goto("./?threads=1"); // the measured number of threads may differ between runs
  await expectReady(page);
  // The pointer may cross the offer of GPT-2, which then tells the expected speed. Here it always does.
  await page.locator("#model-offer-use").hover();
  await page.locator("#chooser > summary").click();
  for (const section of ["options", "device"]) await openSection(page, section);
  await page.locator("#option-seed").fill("7");
  await page.locator("#option-maxNewTokens").fill("12");
  await page.locator("#option-topP").fill("2"); // refused
  await page.locator("#generate").click();
  await expect(page.locator("#refusal-topP")).toBeVisible();
  await page.locator("#option-topP").fill("0.9");
  await page.locator("#generate").click();
  await expect(page.locator("#finish")).toContainText("12");
  await showView(page, "probability");
  await page.locator("#editor .cm-content").press("Control+Home");
  for (let word = 0; word < 5; word += 1) await page.keyboard.press("Control+ArrowRight");
  await page.locator("#token ol button[aria-pressed='false']:enabled").first().click();
  await expect(page.locator("#branches")).toBeVisible();
  await expect(page.locator("#editor .cm-content")).toHaveAttribute("aria-busy", "false");
  await page.locator("#option-temperature").fill("9"); // refused
  await page.locator("#generate").click();
  await expect(page.locator("#refusal-temperature")).toBeVisible();
  await page.locator("#editor .cm-content").press("Alt+ArrowDown");
  await expect(page.locator("#token li")).toHaveCount(10);
  // The text has four tokens, the chosen one and the twelve that follow; before that it had one less.
  await expect(page.locator("#scored")).toHaveText(/^17 tokens?$/i);
  // The picture shows what may follow the text of this seed; before that, it showed what may follow its branch.
  await expect(page.locator("#picture-words")).toContainText(/␣and. 100/);
  await expect(page.locator("#environment-list li").nth(5)).toBeVisible();
  await expect(page.locator("#releases button")).toHaveCount(4);
}

/** Chooses `language` at the foot of the page, as one does with the keyboard, and waits for its words. */
async function choose(page: Page, language: "en" | "de"): Promise<void> {
  await expect(page.locator("#language")).toBeVisible(); // it comes after the first paint
  await page.locator("#language").focus();
  await page.locator("#language").selectOption(language);
  await expect(page.locator("html")).toHaveAttribute("lang", language);
  await expect(page.locator("#language")).toBeFocused();
}

test("a page that switches its language reads like one that began in it", async ({ browser, page }) => {
  test.slow();
  await openAll(page);
  const before = await wordsOf(page);
  const text = await textOf(page);
  await page.evaluate(() => Object.assign(window, { isSame: true }));
  await choose(page, "de");
  const context = await browser.newContext({ locale: "de" });
  const german = await context.newPage();
  await openAll(german);
  await expectGerman(german);
  const expected = await wordsOf(german);
  await german.setViewportSize({ width: 320, height: 640 });
  expect(await partsBeyondWindow(german)).toEqual([]);
  await expect.poll(() => wordsOf(page)).toEqual(expected);
  await context.close();
  await choose(page, "en");
  await expect.poll(() => wordsOf(page)).toEqual(before);
  expect(await page.evaluate(() => "isSame" in window)).toBe(true); // the page was not reloaded
  expect(await textOf(page)).toBe(text);
  await expect(page.locator("#option-temperature")).toHaveValue("9");
  await expect(page.locator("#option-seed")).toHaveValue("7");
});

test("the model keeps writing while the language changes, and Inside is computed again", async ({ page }) => {
  await open(page);
  await startLongText(page);
  await choose(page, "de");
  await expect(page.locator("#editor .cm-content")).toHaveAttribute("aria-busy", "true");
  await expectGrowth(page, 0);
  await page.keyboard.press("Escape");
  await expect(page.locator("#finish")).toHaveText(/^Stopp, \d+ Token\.$/);
  await setText(page, "");
  await expect(page.locator("#editor .cm-placeholder")).toHaveText("Fang irgendwo an…");
  await setText(page, "A cat sat");
  await page.getByRole("tab", { name: "Innen" }).click();
  await expect(page.locator("#inside [role=status]").first()).toContainText("Untersucht: ");
  await page.getByRole("combobox", { name: "Kopf" }).selectOption("2");
  await choose(page, "en");
  await expect(page.locator("#inside [role=status]").first()).toContainText("Inspected: ");
  await expect(page.getByRole("combobox", { name: "Head" })).toHaveValue("2");
});

test("if the words cannot be fetched, the page keeps its language and says so", async ({ page }) => {
  await page.route(words, (route) => route.abort());
  await open(page);
  await page.getByLabel("Language").selectOption("Deutsch");
  await expect(page.getByRole("alert")).toContainText("This part of the page could not be loaded: ");
  await expect(page.getByLabel("Language")).toHaveValue("en");
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await page.reload();
  await expectReady(page);
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
});

test("the chosen language is stored, and the text stays", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, "A cat sat here.");
  await choose(page, "de");
  await page.reload();
  await expectEditor(page);
  await expect(page.getByLabel("Sprache")).toHaveValue("de");
  expect(await textOf(page)).toBe("A cat sat here.");
  await page.getByRole("button", { name: "Rückgängig" }).click();
  expect(await textOf(page)).toBe("Once upon a time");
  await page.goto("./?threads=1"); // a new navigation, not a reload
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await choose(page, "en");
  await expect(page.locator("#generate")).toBeEnabled();
  await page.goto("./?lang=de&threads=1"); // a link's language comes before the stored one, until another is chosen
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await choose(page, "en");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await expect(page).toHaveURL(/\?threads=1$/);
});
