// `npm run screenshot`: pictures of the built page, written to web/screenshots. Needs `npm run build` first.
import { existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "@playwright/test";
import { preview } from "vite";

const folder = resolve(import.meta.dirname, "../screenshots");
const shots = /** @type {const} */ ([
  { name: "desktop", width: 1100, height: 800, colorScheme: "light", shows: "suggestions" },
  { name: "desktop-dark", width: 1100, height: 860, colorScheme: "dark", shows: "probability" },
  { name: "phone", width: 390, height: 844, colorScheme: "light", shows: "text" },
]);

mkdirSync(folder, { recursive: true });
const server = await preview({
  configFile: resolve(import.meta.dirname, "../vite.config.ts"),
  preview: { port: 4184 },
});
const debianChromium = "/usr/bin/chromium";
const browser = await chromium.launch({
  ...(existsSync(debianChromium) ? { executablePath: debianChromium } : {}),
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  for (const { name, width, height, colorScheme, shows } of shots) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme, deviceScaleFactor: 1 });
    await page.goto("http://localhost:4184/");
    await page.locator("#generate:enabled").waitFor();
    await page.locator("#editor .cm-content").waitFor();
    await page.locator("#options > summary").click();
    await page.getByLabel("Seed", { exact: true }).fill("12");
    await page.getByLabel("Tokens", { exact: true }).fill("70");
    await page.locator("#options > summary").click();
    await page.locator("#generate").click();
    await page.locator("#finish", { hasText: "Seed" }).waitFor();
    await page.locator("#editor .cm-content").press("Control+End");
    if (shows === "suggestions") {
      await page.keyboard.type(" Then she");
      await page.keyboard.press("Tab");
      await page.locator(".suggestions li").nth(2).waitFor();
    }
    if (shows === "probability") {
      await page.getByLabel("View").selectOption("probability");
      await page.locator("#token ol").waitFor();
    }
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.screenshot({ path: resolve(folder, `${name}.png`) });
    console.log(`web/screenshots/${name}.png`);
    await page.close();
  }
} finally {
  await browser.close();
  await new Promise((done) => server.httpServer.close(done));
}
