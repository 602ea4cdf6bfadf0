// The text by its tokens: tinted by probability or rank, cut as the tokenizer cuts it, with the alternatives to each token.
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible, violationsIn } from "./axe.js";
import {
  expectFinished,
  expectReady,
  inEditor,
  insertAt,
  open,
  releaseRequests,
  setCaret,
  setOption,
  setText,
  showView,
  startLongText,
  stop,
  takeRequests,
  textOf,
  watchRequests,
  writeOn,
  type SeenRequest,
} from "./page.js";

const text = (page: Page) => page.getByRole("textbox", { name: "Text" });
const panel = (page: Page) => page.getByRole("dialog", { name: "What could go here" });
const shownToken = (page: Page) => panel(page).locator(".token-head .name");
const share = (page: Page) => panel(page).locator(".token-head .share");
const fact = (page: Page, name: string) =>
  panel(page)
    .locator("dl > div", { has: page.getByText(name, { exact: true }) })
    .locator("dd");
const likeliest = (page: Page) => panel(page).getByRole("listitem");
const expectScored = (page: Page) => expect(page.locator("#scored")).toHaveText(/^\d+ tokens$/);

async function see(page: Page, view: string): Promise<void> {
  await showView(page, view);
  await expectScored(page);
}

/** The last words of the text, each with the number that print shows beside it. */
const lastWords = (page: Page, count: number) =>
  page
    .locator("#editor .token")
    .evaluateAll(
      (all, last) => all.slice(-last).map((each) => [each.textContent, each.getAttribute("data-number")]),
      count,
    );

/** The words of each tint, the first one for the most probable words. */
const tints = (page: Page) =>
  Promise.all([0, 1, 2, 3].map((band) => page.locator(`#editor .band-${band}`).allTextContents()));

test("each word is tinted by its probability or rank, and its details list the alternatives", async ({
  page,
}) => {
  await open(page);
  await setText(page, "Once upon a time there was a strawberry elephant of nothing whom he.");
  await see(page, "Probability");
  await expect(page.locator("#scored")).toHaveText("16 tokens");
  for (const place of [text(page), page.locator("#generate")]) {
    await place.focus();
    await expect(page.locator("#editor .cm-editor")).toHaveClass(/\bseen\b/); // wherever the focus is
  }
  const surprises = ["strawberry", "elephant", "of", "nothing", "whom", "."];
  expect(await tints(page)).toEqual([["upon", "a", "time", "was", "a"], ["there"], ["he"], surprises]);

  await test.step("the details show the token's facts and its alternatives", async () => {
    await setCaret(page, "Once upon a".length);
    await expect(share(page)).toHaveText("100.0%");
    await expect(likeliest(page)).toHaveCount(10);
    await expect(fact(page, "Rank")).toHaveText("1");
    await expect(fact(page, "Choice")).toHaveText(/^as open as among \d+\.\d equally/);
    await expect(likeliest(page).first()).toHaveText("␣a100.0%");
    await expect(likeliest(page).first().getByRole("button")).toHaveAttribute("aria-pressed", "true");
  });

  await test.step("the rank of a word chooses its tint, and is the number beside it in print", async () => {
    await see(page, "Rank");
    expect(new URL(page.url()).hash).toBe("#view=rank");
    const [first, ten, hundred, others] = await tints(page);
    expect([first, ten, hundred]).toEqual([["upon", "a", "time", "was", "a"], ["there", "he"], ["of"]]);
    expect(others).toEqual(surprises.filter((word) => word !== "of"));
    expect((await lastWords(page, 5)).map(([, rank]) => rank)).toEqual(["63", "226", "873", "7", "719"]);
    await expect(page.locator("#legend")).toContainText("the first choice");
    // This token is not among the alternatives that the engine returns.
    await setCaret(page, "Once upon a time there was a straw".length);
    await expect(fact(page, "Rank")).toHaveText("612");
  });

  await test.step("a token has the same rank while the model writes it as when it is scored", async () => {
    await text(page).press("Control+End");
    await setOption(page, "Tokens", "8");
    await setOption(page, "Seed", "1"); // tokenizing this text gives the generated tokens again
    await writeOn(page);
    await expectFinished(page);
    const written = await lastWords(page, 6);
    await page.reload();
    await expectReady(page);
    await expectScored(page);
    expect(await lastWords(page, 6)).toEqual(written);
  });
});

test("text is tinted while the model writes it, or once it stops; an edit makes predictions stale", async ({
  page,
}) => {
  await open(page);
  const given = "Once upon a time there was a strawberry elephant";
  await setText(page, given);
  await see(page, "Probability");
  await startLongText(page);
  const tintedWhileBusy = () =>
    page.evaluate(() => {
      const isBusy = document.querySelector('#editor [aria-busy="true"]') !== null;
      const tinted = [...document.querySelectorAll("#editor .token")];
      return isBusy ? tinted.map(({ textContent }) => textContent).join("").length : 0;
    });
  await expect.poll(tintedWhileBusy).toBeGreaterThan(given.length + 20);
  await stop(page);
  await expectScored(page);
  await expect(page.locator("#finish")).toContainText("Stopped,"); // scoring does not change the text

  await showView(page, "Text");
  await startLongText(page);
  await showView(page, "Probability");
  await expect(page.locator("#scored")).toHaveText("The scores appear once the model stops writing.");
  await expect(text(page)).toHaveAttribute("aria-busy", "true");
  await stop(page);
  await expectScored(page);

  await setCaret(page, given.length);
  await expect(likeliest(page)).toHaveCount(10);
  await insertAt(page, 0, "So, ");
  await expect(likeliest(page)).toHaveCount(0);
});

test("the tokenizer's view shows the tokens, ids and bytes, of whole characters", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await open(page);
  await setText(page, "strawberry 🍓!<|endoftext|>");
  await see(page, "Tokens");
  const pieces = await page.locator("#editor .token").allTextContents();
  expect(pieces.join("")).toBe("strawberry 🍓!<|endoftext|>");
  expect(pieces).toContain("<|endoftext|>"); // the text of a special token is that token
  expect(pieces.length).toBeGreaterThanOrEqual(4);
  const count = Number.parseInt((await page.locator("#scored").textContent()) ?? "", 10);
  expect(count).toBeGreaterThan(pieces.length); // a berry is several
  await setCaret(page, "strawberry 🍓".length);
  await expect(fact(page, "Bytes")).toHaveText(/f0 9f 8d 93$/);
  await expect(fact(page, "Ids")).toHaveText(/^\d+(, \d+)+$/);
  expect(await violationsIn(page)).toEqual([]);
  await panel(page).getByRole("button", { name: "Close" }).click();
  for (const view of ["Tokens", "Probability", "Rank"]) {
    await showView(page, view);
    await expectAccessible(page);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);

  await setText(page, "The end. The"); // where the model might end the text
  await text(page).press("Alt+ArrowDown");
  const end = likeliest(page).getByRole("button", { name: "<|endoftext|>" });
  await expect(end).toBeDisabled(); // because it writes nothing
  await expect(likeliest(page).first().getByRole("button")).toBeEnabled();
});

test("the editor takes keys in and after each view of tokens, whatever the text ends in", async ({
  page,
}) => {
  await open(page);
  for (const [view, end] of [
    ["Tokens", "\ufffd\ufffd"],
    ["Probability", "🍓\ufffd"],
    ["Rank", "a\ud83c"],
  ] as const) {
    await setText(page, `Once upon a time ${end}`);
    await see(page, view);
    await text(page).press("Control+End");
    await page.keyboard.type("ab");
    await showView(page, "Text");
    await text(page).press("Control+End");
    await page.keyboard.press("Backspace");
    expect((await textOf(page)).length).toBe(`Once upon a time ${end}a`.length);
  }
});

test("a long text is tokenized at once and tinted as its scores arrive; nothing is scored twice", async ({
  page,
}) => {
  await watchRequests(page, "score");
  await open(page);
  const sentence = "Once upon a time there was a strawberry elephant. ";
  await setText(page, sentence.repeat(90)); // longer than the context
  await showView(page, "Tokens");
  await expect(page.locator("#editor .cut-0").first()).toBeVisible();
  await expect(page.locator("#scored")).toHaveText("Reading the text: 0%");
  await setCaret(page, "Once upon a".length);
  await expect(shownToken(page)).toHaveText("␣a");
  await expect(share(page)).toHaveText("…");
  await expect(likeliest(page)).toHaveCount(10); // only the score is held back
  await showView(page, "Probability");
  await expect(page.locator("#editor .token")).toHaveCount(0);
  await releaseRequests(page);
  await expect(page.locator("#editor .band-0").first()).toBeVisible();
  await expectScored(page);
  const asked: SeenRequest[] = [];
  /** The last request that changed what the engine has read. */
  const last = async () => {
    asked.push(...(await takeRequests(page)));
    return asked.findLast(({ name }) => /generate|score|prefill|inspect/.test(name))?.name;
  };
  await expect.poll(last).toBe("prefill"); // the model reads what Tab needs again
  const scored = (all: readonly SeenRequest[]) => all.filter(({ name }) => name === "score");
  expect(scored(asked).length).toBeGreaterThan(2); // windows of the context

  await test.step("other views and places of the caret reuse the known scores", async () => {
    for (const view of ["Rank", "Tokens"]) await see(page, view);
    await showView(page, "Inside");
    await expect(page.locator("#inside .inside-state [role=status]")).toHaveText(/^Inspected: /);
    await showView(page, "Probability");
    for (const [repeat, word] of [
      [1, "upon"],
      [60, "time"],
      [88, "elephant"],
    ] as const) {
      await setCaret(page, sentence.length * repeat + sentence.indexOf(word) + word.length);
      await expect(shownToken(page)).toHaveText(`␣${word}`);
      const chosen = likeliest(page).getByRole("button", { pressed: true });
      await expect(chosen).toHaveCount(1);
      await expect(chosen.locator(".share")).toHaveText((await share(page).textContent()) ?? "");
    }
    await expectScored(page);
    expect(scored(await takeRequests(page))).toEqual([]);
  });

  await test.step("after an edit at the end, only the change is scored, with the same result", async () => {
    await see(page, "Rank");
    const before = (await page.locator("#scored").textContent()) ?? "";
    await text(page).press("Control+End");
    await page.keyboard.type("Zebras cross.");
    await expect(page.locator("#scored")).not.toHaveText(before);
    await expectScored(page);
    asked.splice(0);
    await expect.poll(last).toBe("prefill");
    expect(scored(asked).length).toBeGreaterThan(0);
    for (const { tokens } of scored(asked)) expect(tokens).toBeLessThan(10);
    const words = await lastWords(page, 14);
    await page.reload(); // scores everything
    await expectReady(page);
    await releaseRequests(page);
    await expectScored(page);
    expect(await lastWords(page, 14)).toEqual(words);
  });
});

/** A place on the screen: in the character at `offset`, after the fraction `part` of its width. */
const placeOf = (page: Page, offset: number, part: number) =>
  inEditor(
    page,
    (view, [at, within]) => {
      const box = view.coordsForChar(at);
      if (!box) throw new Error("it is not on the screen");
      return { x: box.left + (box.right - box.left) * within, y: (box.top + box.bottom) / 2 };
    },
    [offset, part] as const,
  );

const marked = async (page: Page) => (await page.locator("#editor .shown-token").allTextContents()).join("");

test.describe("the pressed token's details are shown, and it is marked", () => {
  test.use({ hasTouch: true });
  const given = "Once, there was, in a wood, a bird.";

  /** The mark begins at the word: a marked space would touch the word before, or remain at the end of a line. */
  const expectToken = async (page: Page, token: string) => {
    await expect(shownToken(page)).toHaveText(token.replace(" ", "␣"));
    expect(await marked(page)).toBe(token.trimStart());
  };

  test("a mouse or a finger selects a token on either half of its letters", async ({ page }) => {
    await open(page);
    await setText(page, given);
    await see(page, "Probability");
    await expect(panel(page)).toBeHidden(); // it opens only on request
    for (const [offset, token] of [
      [given.indexOf(","), ","],
      [given.indexOf(" bird"), " bird"],
      [given.lastIndexOf(","), ","],
      [0, "Once"],
      [given.length - 1, "."],
    ] as const) {
      for (const half of [0.15, 0.85]) {
        const { x, y } = await placeOf(page, offset, half);
        await page.mouse.click(x, y);
        await expectToken(page, token);
      }
    }
    const { x, y } = await placeOf(page, given.indexOf(","), 0.15);
    await page.mouse.click(x, y); // the click puts the caret before the character
    await expectToken(page, ",");
    await page.keyboard.press("ArrowLeft");
    await expectToken(page, "Once");
    for (const media of [
      { colorScheme: "light" },
      { colorScheme: "dark" },
      { colorScheme: "dark", forcedColors: "active" },
    ] as const) {
      await page.emulateMedia(media);
      const mark = page.locator("#editor .shown-token");
      await expect(mark).toHaveCSS("outline", /^(?=.*\bsolid\b).*\b2px\b/);
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await expect(mark).not.toHaveCSS("outline-color", paper);
    }
    const end = await placeOf(page, given.length - 1, 1);
    await page.mouse.click(end.x + 60, end.y); // no character is there
    await expect(panel(page)).toBeHidden();

    const caret = () => inEditor(page, ({ state }) => state.selection.main.head, null);
    for (const half of [0.2, 0.8]) {
      for (const [offset, token] of [
        [given.lastIndexOf(","), ","],
        [given.indexOf(" wood") + 2, " wood"],
        [given.indexOf(","), ","],
      ] as const) {
        const at = await placeOf(page, offset, half);
        await page.touchscreen.tap(at.x, at.y);
        await expectToken(page, token);
        await expect.poll(caret).toBe(offset + Math.round(half));
        await expectToken(page, token); // the caret has followed, and the token is the same
      }
    }
    await showView(page, "Text");
    await expect(page.locator("#editor .shown-token")).toHaveCount(0);
  });
});

const long = "Once upon a time there was a strawberry elephant who lived in a big wood. ".repeat(6);

test("the alternatives of a word appear beside it, and the text stays in sight", async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await open(page);
  await setText(page, long);
  await see(page, "Probability");
  const at = await placeOf(page, long.indexOf("straw") + 2, 0.5);
  await page.mouse.click(at.x, at.y);
  await expect(likeliest(page)).toHaveCount(10);
  const [box, word, dock] = await Promise.all([
    panel(page).boundingBox(),
    page.locator("#editor .shown-token").boundingBox(),
    page.locator("#dock").boundingBox(),
  ]);
  if (!box || !word || !dock) throw new Error("it is not shown");
  expect(box.y).toBeGreaterThanOrEqual(word.y + word.height - 1);
  expect(box.y).toBeLessThan(word.y + word.height + 20);
  expect(box.x).toBeLessThanOrEqual(word.x + 1);
  expect(box.y + box.height).toBeLessThanOrEqual(dock.y);
  await page.keyboard.press("Escape");
  await expect(panel(page)).toBeHidden();
});

test("in a small window the alternatives come first in a sheet, and half of the window is text", async ({
  page,
}) => {
  test.slow(); // four windows
  await open(page);
  await setText(page, long);
  for (const [name, width, height, type] of [
    ["with 200% text at 1024 by 768", 1024, 768, "200%"],
    ["on a phone", 390, 844, "100%"],
    ["on a phone with its keyboard", 390, 480, "100%"],
    ["on a phone on its side", 844, 390, "100%"],
  ] as const) {
    await test.step(name, async () => {
      await page.setViewportSize({ width, height });
      await page.evaluate((size) => (document.documentElement.style.fontSize = size), type);
      await see(page, "Probability");
      const dock = page.locator("#dock");
      const heightOf = async () => (await dock.boundingBox())?.height ?? Infinity;
      expect(await heightOf()).toBeLessThanOrEqual(height / 2);
      await setCaret(page, long.lastIndexOf("straw") + 3);
      await expect(likeliest(page)).toHaveCount(10);
      await expect(page.locator("#editor .shown-token")).toBeInViewport({ ratio: 0.9 });
      expect(await heightOf()).toBeLessThanOrEqual(height / 2);
      expect((await dock.boundingBox())?.y).toBeGreaterThanOrEqual(height / 2);
      const inSight = await likeliest(page).evaluateAll(
        (all) => all.filter((each) => each.getBoundingClientRect().bottom <= window.innerHeight).length,
      );
      expect(inSight).toBeGreaterThanOrEqual(6);
      /** The height between the chosen word and the sheet. */
      const textAfterWord = async () => {
        const [top, chosen] = [await dock.boundingBox(), page.locator("#editor .shown-token").last()];
        const { y = 0, height: line = 0 } = (await chosen.boundingBox()) ?? {};
        return (top?.y ?? 0) - y - line;
      };
      expect(await textAfterWord()).toBeGreaterThanOrEqual(0);
      await setCaret(page, long.indexOf("straw") + 3);
      await expect.poll(textAfterWord).toBeGreaterThan(height / 8); // the next lines are in sight, too
      expect(await violationsIn(page)).toEqual([]);
      await panel(page).getByRole("button", { name: "Close" }).click();
      for (const part of ["#generate", "#state"])
        await expect(page.locator(part)).toBeInViewport({ ratio: 1 });
    });
  }
});

test("the alternatives also appear in the plain text until you continue, and work by keyboard alone", async ({
  page,
}) => {
  await open(page);
  const given = "Once upon a time there was a strawberry elephant";
  await setText(page, given);
  const at = await placeOf(page, given.indexOf("elephant") + 2, 0.5);
  await page.mouse.click(at.x, at.y);
  await expect(likeliest(page)).toHaveCount(10);
  expect(await marked(page)).toBe("elephant");
  await expect(share(page)).toHaveText("< 0.1%"); // not among the likeliest tokens
  await expect(fact(page, "Rank")).toHaveText("122");
  await expect(page.locator("#editor .token")).toHaveCount(0); // no view is on
  await page.keyboard.type("x");
  await expect(panel(page)).toBeHidden();
  await page.keyboard.press("ArrowLeft");
  await expect(panel(page)).toBeHidden(); // the caret moves in plain text
  await setText(page, given);
  await setCaret(page, "Once upon a".length);
  await text(page).press("Alt+ArrowDown");
  await expect(likeliest(page).first().getByRole("button")).toBeFocused();
  await expect(share(page)).toHaveText("100.0%");
  await page.keyboard.press("ArrowDown");
  await expect(likeliest(page).nth(1).getByRole("button")).toBeFocused();
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(panel(page)).toBeHidden();
  await expect(text(page)).toBeFocused();
  const time = await placeOf(page, given.indexOf("time") + 2, 0.5);
  await page.mouse.click(time.x, time.y); // a look, after which the model writes on where the caret was
  await page.keyboard.press("Control+Enter");
  await expectFinished(page);
  expect(await textOf(page)).toMatch(/^Once upon a\b.+ time there was a strawberry elephant$/s);
  for (const view of ["Inside", "Sees"]) {
    await setText(page, given);
    await showView(page, view);
    const { x, y } = await placeOf(page, given.indexOf("time") + 2, 0.5);
    await page.mouse.click(x, y);
    await page.keyboard.press("Control+Enter");
    await expectFinished(page);
    expect(await textOf(page), view).toMatch(new RegExp(`^${given}.`));
  }
});
