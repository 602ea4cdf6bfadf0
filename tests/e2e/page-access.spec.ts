// The page for everyone: axe-core in every state, the focus, the keyboard alone, zoom and large text.
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible } from "./axe.js";
import {
  expectFinished,
  expectIdle,
  expectReady,
  generate,
  hold,
  insertAt,
  killWorker,
  lookInside,
  open,
  openSection,
  partsBeyondWindow,
  prepareLongText,
  releaseRequests,
  setLength,
  setOption,
  setText,
  showView,
  startLongText,
  stop,
  textOf,
  watchRequests,
  writeOn,
} from "./page.js";

const text = (page: Page) => page.locator("#editor .cm-content");

test.describe("axe-core finds no problem, light and dark,", () => {
  test("while the scripts do not run, while the model loads, and after a load has failed", async ({
    page,
  }) => {
    await page.route("**/assets/index-*.js", (route) => route.abort());
    await page.goto("./");
    await expect(page.locator("#starting")).toBeVisible();
    await page.waitForFunction(() =>
      document.getAnimations().every(({ playState }) => playState === "finished"),
    );
    await expectAccessible(page);

    await page.unroute("**/assets/index-*.js");
    await page.route("**/model.safetensors.001", () => {}); // it never arrives
    await page.goto("./");
    await expect(page.locator("#loading-bytes")).toContainText(" of ");
    await expectAccessible(page);

    await page.goto("./?model=none");
    await expect(page.getByRole("alert")).toBeVisible();
    await expectAccessible(page);
  });

  test("before, while and after the model writes, and when its worker has died", async ({ page }) => {
    await open(page);
    await expectAccessible(page);
    await startLongText(page);
    await expectAccessible(page);
    await expect(text(page)).toHaveAttribute("aria-busy", "true"); // all the time
    await stop(page);
    await expectAccessible(page);
    await writeOn(page);
    await expect(text(page)).toHaveAttribute("aria-busy", "true");
    await killWorker(page);
    await expect(page.getByRole("button", { name: "Load the model again" })).toBeVisible();
    await expectAccessible(page);
  });

  test("while a value is refused, a notice is shown, and a new version of the page waits", async ({
    page,
  }) => {
    // Imitates a host without the headers, on which the service worker did not help.
    await page.addInitScript(() => sessionStorage.setItem("gpt2-wasm:isolation-tried", "1"));
    await page.route("./", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { "content-type": "text/html" } });
    });
    await open(page);
    await expect(page.locator("#notice")).toBeVisible();
    await setOption(page, "Top p", "1.5");
    await writeOn(page);
    await expect(page.locator("#refusal-topP")).toBeVisible();
    // Imitates the service worker's message, which offline.spec.ts tests.
    await page.locator("#update").evaluate((notice: HTMLElement) => (notice.hidden = false));
    await expect(page.getByRole("button", { name: "Reload" })).toBeVisible();
    await expectAccessible(page);
  });

  test("while a branch is named", async ({ page }) => {
    await open(page);
    await setOption(page, "Tokens", "4");
    await text(page).press("Alt+ArrowDown");
    await page.locator("#token [aria-pressed=false]").first().click();
    await expectIdle(page);
    await page.getByRole("button", { name: /^Name “/ }).click();
    const name = page.getByRole("textbox", { name: /^Name of “/ });
    await expect(name).toBeFocused();
    await expectAccessible(page);
    await expect(name).toBeFocused(); // an unfocused name field closes
  });

  test("when an error is shown on the stage", async ({ page }) => {
    await open(page);
    await prepareLongText(page);
    await text(page).press("Alt+Enter");
    await page.keyboard.press("Control+Enter");
    await expect(page.locator("#speed")).toContainText("tokens/s");
    await killWorker(page);
    await expect(page.getByRole("button", { name: "Load the model again" })).toBeVisible();
    await expect(page.locator("html")).toHaveClass(/\bstage\b/);
    await expectAccessible(page);
  });
});

test("the page works by keyboard alone", async ({ page }) => {
  await open(page);
  const { keyboard } = page;
  const tabTo = async (id: string) => {
    for (let presses = 0; presses < 30; presses += 1) {
      if ((await page.evaluate(() => document.activeElement?.id)) === id) return;
      await keyboard.press("Tab");
    }
    throw new Error(`Tab does not reach #${id}`);
  };
  // The text has the focus; before it are four openings, the views, of which one can be reached, and the offer of GPT-2.
  for (let before = 0; before < 7; before += 1) await keyboard.press("Shift+Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/^\s*Model:/);
  await keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("model-offer-use");
  await keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("tab-text");
  for (let opening = 0; opening < 4; opening += 1) await keyboard.press("Tab");
  await keyboard.press("Tab");
  await keyboard.type("A cat. "); // the text comes next
  expect(await textOf(page)).toContain("A cat. ");
  await keyboard.press("Alt+ArrowUp");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("tab-text");
  await keyboard.press("Escape");
  await expect(text(page)).toBeFocused();
  await expect(text(page)).toHaveAccessibleDescription(/Escape, then Tab leaves the text/);
  await keyboard.press("Escape"); // then Tab leaves it
  await keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("generate");
  await tabTo("preset-shown");
  await keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.matches("#options summary"))).toBe(true);
  await tabTo("option-maxNewTokens");
  await keyboard.press("Control+A");
  await keyboard.type("4096");
  await tabTo("option-ignoreEos");
  await keyboard.press("Space");
  await keyboard.press("Control+Enter");
  await expect(page.locator("#speed")).toContainText("tokens/s");
  await keyboard.press("Escape");
  // Thousands of tokens before its end: only Escape can have stopped it.
  await expect(page.locator("#finish")).toHaveText(/^Stopped, \d+ tokens\.$/);
});

test.describe("the focus never falls to the body", () => {
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.id ?? "");

  test("the focus stays while a load is cancelled, repeated and finished, and while a dead model is loaded again", async ({
    page,
  }) => {
    let isSlow = true;
    await page.route("**/model.safetensors.001", async (route) => {
      if (!isSlow) await route.continue(); // else it never arrives
    });
    await page.goto("./");
    await expect(page.locator("#loading-bytes")).toContainText(" of ");
    await page.getByRole("button", { name: "Cancel" }).focus();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("button", { name: "Try again" })).toBeFocused();
    isSlow = false;
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("loading-cancel");
    await expectReady(page);
    expect(await focused(page)).toBe("generate");
    await startLongText(page);
    await killWorker(page);
    await page.getByRole("button", { name: "Load the model again" }).focus();
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("loading-cancel");
    await expectReady(page);
    expect(await focused(page)).toBe("generate");
  });

  test("the focus stays while a token is scored, and moves to the text when the token's details disappear", async ({
    page,
  }) => {
    await watchRequests(page, "score");
    await open(page);
    await setLength(page, "4");
    const given = "Once upon a time there was a big red dog";
    await setText(page, given);
    await showView(page, "Probability");
    const likeliest = page.locator("#token li button");
    await text(page).press("Alt+ArrowDown");
    await expect(likeliest.first()).toBeFocused(); // as soon as the list has loaded
    const probability = page.locator("#token .token-head .share");
    await expect(probability).toHaveText("…");
    await likeliest.nth(4).focus();
    await releaseRequests(page);
    await expect(probability).toHaveText(/%$/);
    await expect(likeliest.nth(4)).toBeFocused();

    await insertAt(page, 0, "So, ");
    expect(await focused(page)).toBe("text");
    await expect(page.locator("#token")).toBeHidden();

    await text(page).press("Alt+ArrowDown");
    await expect(likeliest.first()).toBeFocused();
    await page.locator('#token button[aria-pressed="false"]:enabled').first().focus();
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("text");
    await expectFinished(page);
    expect(await focused(page)).toBe("text");
    expect(await textOf(page)).not.toContain(given);

    await text(page).press("Alt+ArrowDown");
    await expect(likeliest).toHaveCount(10);
    await likeliest.first().focus();
    await page.evaluate(() => (location.hash = "#view=inside")); // this view has no such panel
    await expect(page.locator("#token")).toBeHidden();
    expect(await focused(page)).toBe("text");
  });
});

test("the focused element inside the model is hidden by neither the text nor the dock", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 700 });
  await open(page);
  await setText(page, "Once upon a time there was a girl named Lily. ".repeat(12));
  await lookInside(page);
  /** The element over the middle of the focused element; "outside" if the focus is not in the panel. */
  const cover = () =>
    page.evaluate(() => {
      if (!document.activeElement?.closest("#inside")) return "outside";
      const focused = document.activeElement.shadowRoot?.activeElement ?? document.activeElement;
      const { left, top, width, height } = focused.getBoundingClientRect();
      const found = document.elementFromPoint(left + width / 2, top + height / 2);
      const over = found?.closest("#dock, #editor");
      const name = `${focused.tagName} “${focused.textContent.slice(0, 20)}” at ${top.toFixed(0)}`;
      return found && !over ? "" : `${over?.id ?? "nothing"} over ${name}`;
    });
  const walk = async (key: string) => {
    const covered: string[] = [];
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press(key);
      const found = await cover();
      if (found === "outside") return { covered, presses };
      if (found) covered.push(found);
    }
    throw new Error(`${key} does not leave`);
  };
  await page.locator("#text").focus();
  await page.keyboard.press("Escape");
  const forth = await walk("Tab");
  expect(forth.presses).toBeGreaterThan(5);
  expect(forth.covered).toEqual([]);
  expect((await walk("Shift+Tab")).covered).toEqual([]);
});

for (const [name, width, height, textSizes] of [
  ["a phone", 360, 740, [100]],
  ["a desktop", 1280, 900, [100]],
  ["400 % zoom, also with text of 200 %,", 320, 256, [100, 200]],
] as const) {
  test(`the page fits ${name} in every state`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    const expectFit = async (state: string) => {
      for (const percent of textSizes) await expectTextFit(`${state}, text of ${percent} %`, percent);
    };
    const expectTextFit = async (state: string, percent: number) => {
      await page.addStyleTag({ content: `html { font-size: ${percent}% !important }` });
      expect(await partsBeyondWindow(page), state).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(overflow, state).toBeLessThanOrEqual(0);
      // No element cuts off its own content.
      const cut = await page.evaluate(() =>
        [document, ...[...document.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])]
          .flatMap((root) => [...root.querySelectorAll("button, dd, dt, p, label, small, summary, li, a")])
          .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0)
          .map((part) => `${part.tagName} ${part.id} ${part.textContent}`),
      );
      expect(cut, state).toEqual([]);
    };
    await page.route("**/gpt2.js*", (route) => route.abort());
    await page.goto("./");
    await expectFit("without scripts");
    await page.unroute("**/gpt2.js*");
    await page.goto("./?model=none");
    await expect(page.getByRole("alert")).toBeVisible();
    await expectFit("a load failed");
    const release = await hold(page, "**/model.safetensors.001");
    await page.goto("./");
    await expect(page.locator("#loading-bytes")).toContainText(" of ");
    await expectFit("the model loads");
    release();
    await expectReady(page);
    await expectFit("it is ready");
    await setOption(page, "Top p", "1.55555555");
    await setOption(page, "Seed", "-1");
    await writeOn(page);
    await expect(page.locator("#refusal-topP")).toBeVisible();
    await expectFit("a value is refused");
    await setOption(page, "Top p", "");
    await setOption(page, "Seed", "");
    await setLength(page, "8");
    await expect(page.locator("#picture")).toBeVisible();
    await expectFit("the options are open");
    await generate(page);
    await expectFit("a text is finished");
    await text(page).press("Control+End");
    await page.keyboard.press("Tab");
    await expect(page.locator(".suggestions li")).toHaveCount(3);
    await expectFit("words are suggested");
    await page.keyboard.press("Escape");
    await showView(page, "probability");
    await text(page).press("Alt+ArrowDown");
    await expect(page.locator("#token li")).toHaveCount(10);
    await expectFit("a token is told");
    await page.locator("#token [aria-pressed=false]:enabled").first().click();
    await expect(page.locator("#branches")).toBeVisible();
    await expectIdle(page);
    await expectFit("the text has branches");
    await openSection(page, "device");
    await expect(page.locator("#environment-list li").nth(3)).toBeVisible();
    await expectFit("the device is told");
    await lookInside(page);
    await expectFit("it looks inside");
    await showView(page, "Text");
    await text(page).press("Alt+Enter");
    await expectFit("it is on stage");
  });
}
