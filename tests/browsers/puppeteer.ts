// Chromium, and Debian's Firefox ESR over WebDriver BiDi, driven by Puppeteer.
import { chromium } from "@playwright/test";
import puppeteer, { type KeyInput, type LaunchOptions } from "puppeteer-core";
import { within, type Browser } from "./browser.js";
import config from "./playwright.config.js";

const patienceMs = 60_000;

async function launch(name: string, options: LaunchOptions): Promise<Browser> {
  const browser = await puppeteer.launch({ headless: true, timeout: patienceMs, ...options });
  let page = await browser.newPage();
  return {
    name: (await browser.version()).replace(/^.*\//, `${name} `),
    async open(url) {
      // A new page each time, so that a hang in one page does not affect the next.
      const last = page;
      page = await browser.newPage();
      await within(patienceMs, `closing a page of ${name}`, last.close());
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
        await within(patienceMs, `closing ${name}`, browser.close());
      } finally {
        browser.process()?.kill("SIGKILL"); // no effect on one that has ended
      }
    },
  };
}

export const launchFirefox = () =>
  launch("Firefox", { browser: "firefox", executablePath: "/usr/bin/firefox-esr" });

const { executablePath = chromium.executablePath(), args = [] } = config.use?.launchOptions ?? {};
export const launchChromium = () => launch("Chromium", { executablePath, args, headless: "shell" });
