// While the model writes, nothing moves by itself, and its sentences are announced. `npm run bench:page` measures speed.
import { expect, test, type Page } from "@playwright/test";
import { open, startLongText, textOf } from "./page.js";

interface Watched {
  /** As the Layout Instability API counts them, of what nobody pressed a key for. */
  shifts: { value: number; what: string }[];
  /** What the live region said. */
  spoken: string[];
}

/** Watches the page from now on. */
async function watch(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen: Watched = { shifts: [], spoken: [] };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput, sources } = entry as PerformanceEntry & {
          value: number;
          hadRecentInput: boolean;
          sources: { node?: Node; previousRect: DOMRect; currentRect: DOMRect }[];
        };
        // What lies beneath the dock moves where nobody sees it.
        const dock = document.getElementById("dock")?.getBoundingClientRect().top ?? 0;
        const isSeen = sources.some(
          ({ previousRect, currentRect }) => Math.min(previousRect.top, currentRect.top) < dock,
        );
        const nodes = sources.map(({ node }) =>
          node instanceof Element ? node.id || node.className : (node?.textContent ?? ""),
        );
        if (!hadRecentInput && isSeen) seen.shifts.push({ value, what: nodes.join(", ") });
      }
    }).observe({ type: "layout-shift" });
    Object.assign(window, { seen });
    const spoken = document.getElementById("spoken");
    if (!spoken) throw new Error("the page has no live region");
    new MutationObserver(() => seen.spoken.push(spoken.textContent)).observe(spoken, {
      childList: true,
      characterData: true,
      subtree: true,
    });
  });
}

const seenBy = (page: Page) => page.evaluate(() => (window as unknown as { seen: Watched }).seen);

test("nothing moves while the model writes, and what it wrote is said by sentences", async ({ page }) => {
  await open(page);
  await startLongText(page);
  await page.keyboard.press("Escape");
  await page.locator("#options > summary").click();
  await page.locator("#editor .cm-content").press("Control+End");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator("#finish")).toBeEmpty(); // it writes, and the window follows
  await expect(page.locator("#speed")).toContainText("tokens/s");
  // The text pushes down what stands below it until it fills the window.
  await page.waitForFunction(
    () => (document.getElementById("dock")?.getBoundingClientRect().bottom ?? 0) > innerHeight - 1,
  );
  await watch(page);
  await expect.poll(async () => (await seenBy(page)).spoken.length, { timeout: 30_000 }).toBeGreaterThan(8);
  await page.keyboard.press("Escape");
  await expect(page.locator("#finish")).toContainText("Stopped after");
  const { shifts, spoken } = await seenBy(page);
  expect(shifts.filter(({ value }) => value > 0.001)).toEqual([]);
  // All but the last, which was stopped, end as sentences or lines do.
  const text = await textOf(page);
  for (const said of spoken.slice(0, -1)) {
    expect(said.length, said).toBeGreaterThan(1);
    const place = text.indexOf(said);
    expect(place, said).toBeGreaterThanOrEqual(0);
    expect(text.slice(0, place + said.length + 1), said).toMatch(/(?:[.!?…]["”’')\]]*\s|\n)$/);
  }
});
