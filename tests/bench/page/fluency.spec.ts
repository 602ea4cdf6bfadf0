// `npm run bench -- fluency` measures how soon the page answers a key, and how long its tasks block the main thread. It prints
// what it measures and fails above a bar. Run it on a quiet machine; no test asserts these times.
import type { EditorView } from "@codemirror/view";
import { expect, test, type Page } from "@playwright/test";
import { open, setText, showView, startLongText } from "../../e2e/page.js";
import { longestTasks } from "./long-tasks.js";

/** Milliseconds that one task may block the main thread. Longer ones are what browsers call long tasks. */
const longTaskMs = 50;
const inMs = (times: readonly number[]) => `${times.map((ms) => ms.toFixed(1)).join(", ")} ms`;

interface KeyWatcher {
  delays: number[];
  takeKeys: () => void;
}

/** Records the time from each key to the next frame after the page handled it. */
const watchKeys = (page: Page) =>
  page.evaluate(() => {
    const delays: number[] = [];
    const add = (entries: PerformanceEntryList) => {
      for (const { name, duration } of entries) if (name === "keydown") delays.push(duration);
    };
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    observer.observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
    Object.assign(window, { delays, takeKeys: () => add(observer.takeRecords()) });
  });

const typed = "the quick brown fox jumps over the lazy dog ".repeat(2).slice(0, 60);
const keyCount = (page: Page) => page.evaluate(() => performance.eventCounts.get("keydown") ?? 0);

/** Presses twenty keys a second, however late the page answers, and waits until it has handled all of them. */
async function type(page: Page): Promise<void> {
  const before = await keyCount(page);
  const start = Date.now();
  const presses: Promise<void>[] = [];
  for (const [place, letter] of typed.split("").entries()) {
    const wait = start + place * 50 - Date.now();
    if (wait > 0) await page.waitForTimeout(wait);
    presses.push(page.keyboard.press(letter === " " ? "Space" : letter));
  }
  await Promise.all(presses);
  await expect.poll(() => keyCount(page)).toBeGreaterThanOrEqual(before + typed.length);
}

/** The delay in milliseconds that nine of ten keys stay within. The browser reports no delay below a frame (16 ms). */
async function ninthDecile(page: Page): Promise<number> {
  await watchKeys(page);
  await type(page);
  const delays = await page.evaluate(() => {
    const watcher = window as unknown as KeyWatcher;
    watcher.takeKeys();
    return watcher.delays;
  });
  const all = [...delays, ...Array.from({ length: Math.max(0, typed.length - delays.length) }, () => 16)];
  return all.sort((a, b) => a - b)[Math.floor(all.length * 0.9)] ?? 0;
}

const goTo = (page: Page, key: string) => page.locator("#editor .cm-content").press(key);

test("a key takes no longer to appear while the model writes", async ({ page }) => {
  await open(page);
  await setText(page, "A short text. ");
  await goTo(page, "Control+Home");
  const alone = await ninthDecile(page);
  await goTo(page, "Control+End");
  await startLongText(page);
  await goTo(page, "Control+Home");
  const writing = await ninthDecile(page);
  await expect(page.locator("#editor .cm-content")).toHaveAttribute("aria-busy", "true"); // all the time
  console.log(`nine of ten keys: ${alone} ms alone, ${writing} ms while the model writes`);
  expect(writing - alone).toBeLessThan(60);
});

test("a key in 50,000 characters is laid out within a frame or two", async ({ page }) => {
  await open(page);
  await setText(page, "The little dog ran to the river and back again. ".repeat(1050));
  const times = await page.locator("#editor .cm-content").evaluate(async (element) => {
    const { view } = element.closest("#editor") as Element & { view: EditorView };
    view.dispatch({ selection: { anchor: 25_000 }, scrollIntoView: true });
    view.focus();
    const found: number[] = [];
    for (let key = 0; key < 30; key += 1) {
      await new Promise(requestAnimationFrame);
      const start = performance.now();
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else edits as a key does
      document.execCommand("insertText", false, "a");
      element.getBoundingClientRect(); // forces the layout
      found.push(performance.now() - start);
    }
    return found.sort((a, b) => a - b);
  });
  const median = times[15] ?? NaN;
  console.log(`a key in 50,000 characters: ${inMs([median])}`);
  expect(median).toBeLessThan(50);
});

test("no task is long while a long text is pasted, scored and continued", async ({ browser, page }) => {
  await open(page);
  const paragraph = "Lily had a red ball. She saw it by the sea, and Tom’s dog ran to her. ".repeat(8);
  const long = `${paragraph}\n`.repeat(9).slice(0, 5000);
  const actions: Record<string, () => Promise<void>> = {
    "paste and score": async () => {
      await showView(page, "text");
      await setText(page, long);
      await showView(page, "probability");
      await expect(page.locator("#editor .token").nth(100)).toBeAttached({ timeout: 30_000 });
    },
    "walk through": async () => {
      for (const key of ["Control+Home", "PageDown", "PageDown", "Control+End"]) await goTo(page, key);
    },
    "suggest at the end": async () => {
      await goTo(page, "Control+End");
      await page.keyboard.press("Tab");
      await expect(page.locator(".suggestions li")).toHaveCount(3, { timeout: 30_000 });
      await expect(page.locator(".suggestions")).toHaveAttribute("aria-busy", "false");
      await page.keyboard.press("Enter");
    },
  };
  for (const [name, action] of Object.entries(actions)) {
    const tasks = await longestTasks(browser, page, action);
    console.log(`${name}: the longest tasks took ${inMs(tasks)}`);
    expect.soft(tasks[0], name).toBeLessThan(longTaskMs);
  }
});

test("no task is long while the model writes and you type", async ({ browser, page }) => {
  await open(page);
  await startLongText(page);
  await goTo(page, "Control+Home");
  const tasks = await longestTasks(browser, page, () => type(page));
  console.log(`typing: the longest tasks took ${inMs(tasks)}`);
  expect(tasks[0]).toBeLessThan(longTaskMs);
  await page.evaluate(() => {
    setInterval(() => {
      const end = performance.now() + 400;
      while (performance.now() < end);
    }, 500);
  });
  const twoSeconds = () => page.waitForTimeout(2000);
  expect((await longestTasks(browser, page, twoSeconds))[0]).toBeGreaterThan(longTaskMs);
});

test("no task is long while the view Inside shows a thousand tokens", async ({ browser, page }) => {
  await open(page);
  await setText(page, "Lily had a red ball. 🍓 She saw it. ".repeat(80));
  const tasks = await longestTasks(browser, page, async () => {
    await page.locator("#tab-inside").click();
    await expect(page.locator(".inside-state p")).toContainText("The model sees the last 512 tokens");
    await page.getByRole("grid", { name: "All heads of all layers" }).focus();
    for (const key of ["ArrowUp", "ArrowRight", "ArrowDown", "End"]) await page.keyboard.press(key);
  });
  console.log(`Inside: the longest tasks took ${inMs(tasks)}`);
  expect(tasks[0]).toBeLessThan(longTaskMs);
});
