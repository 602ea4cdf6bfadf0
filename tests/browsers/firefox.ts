// Debian's Firefox ESR, driven by Puppeteer over WebDriver BiDi.
import puppeteer, { type KeyInput } from "puppeteer-core";
import { within, type Browser } from "./browser.js";

const patienceMs = 60_000;

export async function launchFirefox(): Promise<Browser> {
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: "/usr/bin/firefox-esr",
    headless: true,
    timeout: patienceMs,
  });
  let page = await browser.newPage();
  return {
    name: (await browser.version()).replace("firefox/", "Firefox "),
    async open(url) {
      // A new page each time, so that a hang in one page does not affect the next.
      const last = page;
      page = await browser.newPage();
      await within(patienceMs, "closing a page of Firefox", last.close());
      await page.goto(url, { timeout: patienceMs });
    },
    evaluate: (expression) => page.evaluate(expression) as Promise<string>,
    async press(...keys) {
      for (const pressed of keys) {
        const [key, ...held] = pressed.split("+").reverse() as [KeyInput, ...KeyInput[]];
        for (const each of held) await page.keyboard.down(each);
        await page.keyboard.press(key);
        for (const each of held) await page.keyboard.up(each);
      }
    },
    async close() {
      try {
        await within(patienceMs, "closing Firefox", browser.close());
      } finally {
        browser.process()?.kill("SIGKILL"); // no effect on one that has ended
      }
    },
  };
}
