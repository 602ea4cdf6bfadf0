// While the model writes, and when it ends, nothing moves by itself. spoken.spec.ts tests the announcements.
import { expect, test, type Page } from "@playwright/test";
import { fillPhrase } from "../../web/src/shared/phrases.js";
import * as german from "../../web/page/language/de.js";
import * as english from "../../web/page/language/en.js";
import { expectFinished, expectGrowth, expectReady, open, setLength } from "./page.js";

/** Layout shifts without a key press, as the Layout Instability API counts them. */
interface Shift {
  value: number;
  what: string;
}

/** Watches the page from now on. */
async function watch(page: Page): Promise<void> {
  await page.evaluate(async () => {
    // The shift of the frame that has just been laid out is reported when it is painted.
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    const shifts: Shift[] = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput, sources } = entry as PerformanceEntry & {
          value: number;
          hadRecentInput: boolean;
          sources: { node?: Node; previousRect: DOMRect; currentRect: DOMRect }[];
        };
        // Content beneath the dock may move, because it is not visible.
        const dock = document.getElementById("dock")?.getBoundingClientRect().top ?? 0;
        const isSeen = sources.some(
          ({ previousRect, currentRect }) => Math.min(previousRect.top, currentRect.top) < dock,
        );
        const nodes = sources.map(({ node }) =>
          node instanceof Element ? node.id || node.className : (node?.textContent ?? ""),
        );
        if (!hadRecentInput && isSeen) shifts.push({ value, what: nodes.join(", ") });
      }
    }).observe({ type: "layout-shift" });
    Object.assign(window, { shifts });
  });
}

const shiftsIn = (page: Page) =>
  page.evaluate(() => (window as unknown as { shifts: Shift[] }).shifts.filter(({ value }) => value > 0.001));

test("nothing moves while the model writes, and when it ends", async ({ page }) => {
  await open(page);
  await setLength(page, "150");
  await page.locator("#editor .cm-content").press("Control+End");
  await watch(page);
  await page.keyboard.press("Control+Enter");
  await expectFinished(page);
  expect(await shiftsIn(page)).toEqual([]);

  await setLength(page, "4096");
  await page.locator("#editor .cm-content").press("Control+End");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator("#finish")).toBeEmpty(); // the model writes, and the window scrolls with it
  await expect(page.locator("#speed")).toContainText("tokens/s");
  // The text pushes down the elements below it until it fills the window.
  await page.waitForFunction(
    () => (document.getElementById("dock")?.getBoundingClientRect().bottom ?? 0) > innerHeight - 1,
  );
  await watch(page);
  await expectGrowth(page, 2000);
  await page.keyboard.press("Escape");
  await expect(page.locator("#finish")).toContainText("Stopped,");
  expect(await shiftsIn(page)).toEqual([]);
});

for (const [language, { start, models, editor }] of Object.entries({ en: english, de: german })) {
  test.describe(`on a phone, in the language ${language},`, () => {
    test.use({ locale: language, viewport: { width: 360, height: 780 } });

    test("the status at the end, the speed and the preset fit in one row, whatever they are", async ({
      page,
    }) => {
      const fill = (phrase: Parameters<typeof fillPhrase>[0], values = {}) =>
        fillPhrase(phrase, values, language, (value) => value.toLocaleString(language));
      const endings = [
        start["finish.eos"],
        start["finish.stop"],
        ...[0, 1, 9999].flatMap((count) => [
          fill(start["finish.length"], { count }),
          fill(start.stopped, { count }),
        ]),
      ];
      const speeds = [0.1, 99, 2000].map((value) => fill(models.rate, { value }));
      const presets = (["preset.precise", "preset.balanced", "preset.wild", "ownPreset"] as const).map(
        (name) => editor[name],
      );
      await page.goto("./");
      await expectReady(page);
      await expect(page.locator("#preset-shown")).toHaveText(editor["preset.balanced"]);
      const rows = endings.flatMap((ending) =>
        speeds.flatMap((speed) => presets.map((preset) => [ending, speed, preset])),
      );
      const broken = await page.evaluate((all) => {
        const parts = ["finish", "speed", "preset-shown"].map((id) => document.getElementById(id));
        return all.filter((row) => {
          parts.forEach((part, at) => part?.replaceChildren(row[at] ?? ""));
          const boxes = parts.flatMap((part) => part?.getBoundingClientRect() ?? []);
          const top = Math.min(...boxes.map((box) => box.top));
          return Math.max(...boxes.map((box) => box.bottom)) - top > 30; // pixels: more than one line
        });
      }, rows);
      expect(broken).toEqual([]);
    });
  });
}
