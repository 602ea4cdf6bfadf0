// Chromium, driven by Playwright.
import { chromium } from "@playwright/test";
import type { Browser } from "./browser.js";
import config from "./playwright.config.js";

export async function launchChromium(): Promise<Browser> {
  const browser = await chromium.launch(config.use?.launchOptions);
  const page = await browser.newPage();
  return {
    name: `Chromium ${browser.version()}`,
    open: async (url) => {
      await page.goto(url);
    },
    evaluate: (expression) => page.evaluate<string>(expression),
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    close: () => browser.close(),
  };
}
