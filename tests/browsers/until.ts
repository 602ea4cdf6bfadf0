import { LateError, within, type Browser } from "./browser.js";

const patienceMs = 60_000;
/** WebKitGTK sometimes never answers what was asked in a page that it leaves meanwhile: `until` asks again. */
const answerMs = 10_000;

/** Waits until a condition holds in a page that may be reloaded meanwhile. */
export async function until(browser: Browser, condition: string): Promise<void> {
  const start = performance.now();
  while (performance.now() - start < patienceMs) {
    const answer = within(
      answerMs,
      condition,
      browser.evaluate(`Promise.resolve(String(${condition}))`),
    ).catch(() => "reloaded");
    if ((await answer) === "true") return;
    await new Promise((later) => setTimeout(later, 100));
  }
  const text = await browser.evaluate("Promise.resolve(document.body.innerText)").catch(String);
  throw new LateError(`never: ${condition} in a page that says: ${text}`);
}
