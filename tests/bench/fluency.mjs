// What a writer notices on the page: how late keys appear, and how long tasks block the main thread.
import { withBuiltPage } from "../../web/scripts/built-page.mjs";

/** Presses twenty keys a second at the start of the text. Returns milliseconds; the browser reports tasks from 50 on. */
async function typeIn(page) {
  await page.locator("#editor .cm-content").press("Control+Home");
  await page.evaluate(() => {
    const seen = { keys: /** @type {number[]} */ ([]), tasks: [0] };
    const observe = (type, take) =>
      new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type });
    observe("longtask", ({ duration }) => seen.tasks.push(duration));
    observe("event", ({ name, duration }) => name === "keydown" && seen.keys.push(duration));
    Object.assign(window, { seen });
  });
  const text = "the quick brown fox jumps over the lazy dog ".repeat(3);
  await page.keyboard.type(text, { delay: 50 });
  return page.evaluate((count) => {
    const { keys, tasks } = /** @type {any} */ (window).seen;
    const late = keys.toSorted((a, b) => b - a)[Math.floor(count / 10)] ?? 104; // the least that is reported
    return { "nine of ten keys, ms": late, "longest task, ms": Math.max(...tasks) };
  }, text.length);
}

/** A contender: the page, on which the model writes while keys are typed, or not. */
export const fluency = (name, isWriting) => ({
  name,
  async take() {
    let found = /** @type {Record<string, number>} */ ({});
    await withBuiltPage(async (newPage) => {
      const page = await newPage({});
      await page.goto("./");
      await page.locator("#engine:not(:text-is('–'))").waitFor({ state: "attached" });
      await page.locator("#editor .cm-content").waitFor();
      if (isWriting) {
        await page.locator("#menu-button").click();
        await page.locator("#menu [data-section=options]").click();
        await page.getByLabel("Tokens", { exact: true }).fill("4096");
        await page.getByLabel("Ignore end of text").check();
        await page.locator("#generate").click();
        await page.locator("#editor .cm-content[aria-busy=true]").waitFor();
      }
      found = await typeIn(page);
    });
    return found;
  },
});
