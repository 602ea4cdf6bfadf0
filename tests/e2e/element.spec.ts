// <gpt2-writer> and <gpt2-autocomplete> in another site's page.
import { expect, test, type Locator, type Page } from "@playwright/test";
import { expectAccessible, violationsIn } from "./axe.js";
import { inPage, prompt } from "./model.js";

const model = `model="models/demo/" variant="simd"`;

/** Opens a page with this inside; every event of the elements is kept, as the document hears of it. */
async function open(page: Page, body: string, style = ""): Promise<void> {
  await page.route("**/element.html", (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Elements</title>
        <meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
        <style>html { background: Canvas; color: CanvasText } body { font: 1rem/1.5 sans-serif } ${style}</style>
        <script>
          window.heard = [];
          for (const name of ["progress", "token", "done", "error", "accept"])
            document.addEventListener("gpt2-" + name, ({ type, detail, target }) =>
              heard.push({ type, detail, from: target.id, message: detail.error?.message }));
        </script>
        <script type="module" src="gpt2-element.js"></script>
        <body><main><h1>Elements</h1>${body}</main></body></html>`,
    }),
  );
  await page.goto("./element.html");
  await page.waitForFunction(() => customElements.get("gpt2-autocomplete"));
}

interface Heard {
  type: string;
  from: string;
  message?: string;
  detail: { text?: string; summary?: { finishReason: string } | null; stage?: string };
}
const heard = (page: Page, type: string) =>
  page.evaluate(
    (wanted) => (window as unknown as { heard: Heard[] }).heard.filter((event) => event.type === wanted),
    type,
  );
const waitFor = (page: Page, type: string, count = 1) =>
  expect.poll(async () => (await heard(page, type)).length).toBeGreaterThanOrEqual(count);
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const workers = (page: Page) => page.workers().filter((each) => each.url().includes("gpt2-worker")).length;
/** Waits as long as a timer of the page that was set before, which so ran before this ends. */
const untilTimer = (page: Page, ms: number) =>
  page.evaluate((after) => new Promise((later) => setTimeout(later, after)), ms);
test.describe("gpt2-writer", () => {
  const writer = (rest = "") =>
    `<label for="w">A story</label><gpt2-writer id="w" name="story" ${model} prompt="${prompt}" ${rest}></gpt2-writer>`;

  test("gpt2-writer writes, fires its events, sets its form's value, and shifts no layout", async ({
    page,
  }) => {
    await open(page, `<form>${writer('max-new-tokens="20" seed="5" temperature="1" top-k="0"')}</form>`);
    await page.evaluate(() => {
      const shifts: number[] = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
      }).observe({ type: "layout-shift", buffered: true });
      Object.assign(window, { shifts });
    });
    const field = page.getByRole("textbox", { name: "A story" });
    await expect(field).toHaveValue(prompt);
    const formValue = () =>
      page.evaluate(() => new FormData(document.querySelector("form") ?? undefined).get("story"));
    expect(await formValue()).toBe(prompt);
    await button(page, "Write").click();
    await waitFor(page, "gpt2-done");
    const expected = await inPage(
      page,
      async ({ loadModel }, text) => {
        const call = { maxNewTokens: 20, seed: 5, temperature: 1, topK: 0 };
        return (await (await loadModel("models/demo/", { variant: "simd" })).complete(text, call)).text;
      },
      prompt,
    );
    await expect(field).toHaveValue(prompt + expected);
    expect(await formValue()).toBe(prompt + expected);
    const [done] = await heard(page, "gpt2-done");
    expect(done).toMatchObject({
      from: "w",
      detail: { text: expected, summary: { finishReason: "length" } },
    });
    expect((await heard(page, "gpt2-token")).map(({ detail }) => detail.text).join("")).toBe(expected);
    expect((await heard(page, "gpt2-progress")).at(-1)?.detail.stage).toBe("ready");
    expect(await page.locator("gpt2-writer [aria-live]").textContent()).toBe(expected);
    expect(await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts)).toEqual([]);
    await page.evaluate(() => document.querySelector("form")?.reset());
    await expect(field).toHaveValue(prompt);
    expect(await formValue()).toBe(prompt);
  });

  test("gpt2-writer loads when it becomes visible; writers with the same settings share one worker", async ({
    page,
  }) => {
    const another = `<gpt2-writer id="v" label="Another" ${model} loading="use"></gpt2-writer>`;
    const letter = `<textarea id="t" aria-label="Letter"></textarea><gpt2-autocomplete for="t" ${model}></gpt2-autocomplete>`;
    await open(page, `<div class="high"></div>${writer()}${another}${letter}`, ".high { height: 3000px }");
    await page.evaluate(async () => {
      const writer = document.querySelector("#w") as Element;
      await new Promise((seen) => new IntersectionObserver(seen).observe(writer)); // after the element's own observer
    });
    expect(workers(page)).toBe(0);
    await page.locator("#w").scrollIntoViewIfNeeded();
    await waitFor(page, "gpt2-progress");
    await page.locator("#t").focus();
    await page.locator("#v").getByRole("button").click();
    await waitFor(page, "gpt2-done");
    await expect
      .poll(async () => new Set((await heard(page, "gpt2-progress")).map(({ from }) => from)).size)
      .toBe(3);
    expect(workers(page)).toBe(1);
    await page.evaluate(() => document.querySelectorAll("gpt2-writer").forEach((each) => each.remove()));
    await untilTimer(page, 1000); // a removed element keeps its model as long
    expect(workers(page)).toBe(1); // the autocomplete still uses it
    await page.evaluate(() => document.querySelector("gpt2-autocomplete")?.remove());
    await expect.poll(() => workers(page)).toBe(0);
  });

  test("axe finds no problem, idle, writing and with an error", async ({ page }) => {
    await open(page, writer('max-new-tokens="4000" ignore-eos'));
    await expectAccessible(page);
    await button(page, "Write").click();
    await waitFor(page, "gpt2-token");
    await expectAccessible(page);
    await page.evaluate(() => document.querySelector("#w")?.setAttribute("model", "none/"));
    await waitFor(page, "gpt2-error");
    await expectAccessible(page);
  });
});

test.describe("gpt2-autocomplete", () => {
  const field = `<label for="t">A letter</label><textarea id="t" rows="4" style="width: 20rem"></textarea>
    <gpt2-autocomplete for="t" ${model} delay="20" max-new-tokens="6"></gpt2-autocomplete>
    <button>Next</button>`;
  const ghostOf = (page: Page): Locator => page.locator("gpt2-autocomplete .ghost");
  const typed = "Tom and Sue went";

  /** The suggestion after `text` is typed. */
  async function propose(page: Page, text = typed): Promise<string> {
    if (text) await page.locator("#t").fill(text.slice(0, -1));
    if (text) await page.locator("#t").press(text.slice(-1)); // the last letter is a key press, as a user types it
    await expect(ghostOf(page)).toHaveText(/\S/);
    return (await ghostOf(page).textContent()) ?? "";
  }

  test("gpt2-autocomplete draws at the place of the text, however the field is scrolled", async ({
    page,
  }) => {
    await open(
      page,
      `<div class="scroller"><div class="high"></div>${field}</div><div class="high"></div>`,
      `.high { height: 400px } .scroller { position: relative; height: 500px; overflow: auto }
       textarea { font: italic 17px/1.7 serif; letter-spacing: 1px; padding: 7px 11px; border: 3px solid; margin: 9px }`,
    );
    const lines = `${"One day they saw a big dog. ".repeat(9)}${typed}`;
    await page.locator("#t").fill(lines);
    await propose(page, "");
    const apart = () =>
      page.evaluate(() => {
        const text = document.querySelector("textarea");
        const overlay = document.querySelector("gpt2-autocomplete")?.shadowRoot?.querySelector(".overlay");
        if (!text || !overlay) throw new Error("there is no overlay");
        const [a, b] = [text.getBoundingClientRect(), overlay.getBoundingClientRect()];
        const ends = overlay.querySelector(".ghost")?.getBoundingClientRect();
        return {
          left: b.left - a.left - text.clientLeft,
          top: b.top - a.top - text.clientTop,
          isInside: (ends?.top ?? 0) >= a.top && (ends?.top ?? 0) <= a.bottom,
          height: (overlay.firstElementChild?.clientHeight ?? 0) - text.scrollHeight,
        };
      });
    const right = { left: 0, top: 0, isInside: true };
    expect(await apart()).toMatchObject(right);
    for (const scroll of [
      () => page.evaluate(() => document.querySelector(".scroller")?.scrollBy(0, 60)),
      () => page.evaluate(() => scrollBy(0, 45)),
      () => page.locator("#t").evaluate((each: HTMLTextAreaElement) => void (each.style.width = "15rem")),
    ]) {
      await scroll();
      await expect.poll(async () => (({ left, top }) => [left, top])(await apart())).toEqual([0, 0]);
    }
    await page.keyboard.press("Tab");
    await expect(ghostOf(page)).toHaveText("");
    // In the field, the ghost's text takes as many lines as in the overlay.
    await page.locator("#t").fill(`One day they saw a big dog. ${typed}`);
    await propose(page, "");
    const shown = await page.evaluate(
      () =>
        document.querySelector("gpt2-autocomplete")?.shadowRoot?.querySelector(".overlay > div")
          ?.clientHeight,
    );
    await page.locator("#t").press("Tab");
    const taken = await page.locator("#t").evaluate((each: HTMLTextAreaElement) => {
      each.rows = 1;
      return each.scrollHeight;
    });
    expect(shown).toBeGreaterThan(60); // more lines than one
    expect(taken).toBe(shown);
  });

  test("gpt2-autocomplete suggests words, axe finds no problem, and on touch devices a tap takes them", async ({
    browser,
  }) => {
    const context = await browser.newContext({
      hasTouch: true,
      isMobile: true,
      viewport: { width: 390, height: 700 },
    });
    const page = await context.newPage();
    await open(page, field);
    const whole = await propose(page);
    expect(whole).toMatch(/^ \w+ \w+/);
    expect(await violationsIn(page)).toEqual([]);
    await ghostOf(page).tap();
    await expect(page.locator("#t")).toHaveValue(typed + whole);
    await expect(page.locator("#t")).toBeFocused();
    await context.close();
  });

  const wide = "I wonder whether it will rain today";
  for (const [name, style, attributes, before] of [
    ["with one row that is full", "width: 12.1rem", 'rows="1"', "Tom and Sue went in"],
    ["that grows with a full line", "field-sizing: content; width: 12.1rem", "", "Tom and Sue went in"],
    ["that is raised while it has the focus", "position: relative; z-index: 5; background: white", "", typed],
    ["without wrapping", "width: 9rem", 'wrap="off"', wide],
    ["without wrapping by its style", "width: 9rem; white-space: nowrap", "", wide],
    ["with balanced lines", "width: 12rem; text-wrap: balance", 'rows="4"', wide],
    ["in an element that hides what does not fit", "width: 30rem", 'rows="4"', wide],
    ["under another element", "width: 30rem", 'rows="4" class="covered"', wide],
  ] as const)
    test(`in a field ${name}, Tab takes only a suggestion that is seen at the caret`, async ({ page }) => {
      await open(
        page,
        `<div style="overflow: hidden; width: 14rem; position: relative"><label for="t">A letter</label>
         <textarea id="t" style="font: 16px/1.5 monospace; ${style}" ${attributes}></textarea>
         <gpt2-autocomplete for="t" ${model} delay="20" max-new-tokens="6"></gpt2-autocomplete></div>
         <button>Next</button>`,
        `.covered + gpt2-autocomplete ~ i, div:has(> .covered)::after { content: ""; position: absolute; inset: 0; z-index: 9; background: white }`,
      );
      const field = page.locator("#t");
      for (let length = before.length - 8; length <= before.length; ++length) {
        await field.fill(before.slice(0, length - 1));
        const done = (await heard(page, "gpt2-done")).length;
        await field.press(before.charAt(length - 1) === " " ? "Space" : before.charAt(length - 1));
        await expect
          .poll(
            async () =>
              (await heard(page, "gpt2-done")).length > done || (await untilTimer(page, 1000), true),
          )
          .toBe(true);
        // In one task, so that no suggestion can arrive in between.
        const { seen, isSeen } = await page.evaluate(() => {
          const root = document.querySelector("gpt2-autocomplete")?.shadowRoot;
          const ghost = root?.querySelector<HTMLElement>(".ghost");
          if (!root || !ghost) throw new Error("there is no ghost");
          const seen = ghost.textContent;
          const range = document.createRange();
          range.selectNodeContents(ghost);
          const at = seen.search(/\S/);
          if (at >= 0) range.setStart(ghost.firstChild as Text, at);
          if (at >= 0) range.setEnd(ghost.firstChild as Text, at + 1);
          const { left, right, top, bottom } = range.getBoundingClientRect();
          ghost.style.pointerEvents = "auto";
          const isSeen = root.elementFromPoint((left + right) / 2, (top + bottom) / 2) === ghost;
          ghost.style.pointerEvents = "";
          const key = new KeyboardEvent("keydown", { key: "Tab", bubbles: true, cancelable: true });
          document.querySelector("textarea")?.dispatchEvent(key);
          return { seen, isSeen };
        });
        expect(isSeen).toBe(seen !== "");
        await expect(field).toHaveValue(before.slice(0, length) + seen);
      }
    });

  test("an editor whose caret is as high as its font is large gets suggestions", async ({ page }) => {
    await open(
      page,
      `<div contenteditable role="textbox" aria-label="A letter" style="font: 16px sans-serif">Tom and Sue went</div>
       <gpt2-autocomplete ${model} delay="20"></gpt2-autocomplete>`,
    );
    await page.evaluate(() => {
      const element = document.querySelector<HTMLElement>("[contenteditable]");
      const { bottom = 0 } = element?.getBoundingClientRect() ?? {};
      const caret = () => new DOMRect(150, bottom - 16, 0, 16);
      const field = { element, textBefore: () => element?.textContent, insert: String, caret };
      Object.assign(document.querySelector("gpt2-autocomplete") ?? {}, { field });
    });
    await page.getByRole("textbox").press("End");
    await page.keyboard.type(" to");
    await expect(ghostOf(page)).toHaveText(/\S/);
  });

  test("one Undo in a gpt2-writer removes all that the model wrote, and Redo restores just that", async ({
    page,
  }) => {
    await open(page, `<gpt2-writer id="w" ${model} max-new-tokens="12"></gpt2-writer>`);
    const field = page.getByRole("textbox");
    await field.click();
    await page.keyboard.type("Once upon");
    await button(page, "Write").click();
    await waitFor(page, "gpt2-done");
    const whole = await field.inputValue();
    expect(whole.length).toBeGreaterThan(9);
    await page.keyboard.press("Control+Z");
    await expect(field).toHaveValue("Once upon");
    await page.keyboard.press("Control+Shift+Z");
    await expect(field).toHaveValue(whole);
    await page.keyboard.press("Control+Shift+Z");
    await expect(field).toHaveValue(whole);
    await page.keyboard.type("!"); // the press of the button left the focus in the text
    await expect(field).toHaveValue(`${whole}!`);
  });
});
