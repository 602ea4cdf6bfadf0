// `npm run screenshot`: pictures of the built page, written to web/screenshots. Needs `npm run build` first.
import { existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "@playwright/test";
import { preview } from "vite";

const folder = resolve(import.meta.dirname, "../screenshots");
const shots = /** @type {const} */ ([
  { name: "desktop", width: 1000, height: 800, colorScheme: "light", options: false },
  { name: "desktop-dark", width: 1100, height: 860, colorScheme: "dark", options: true },
  { name: "phone", width: 390, height: 844, colorScheme: "light", options: false },
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
  for (const { name, width, height, colorScheme, options } of shots) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme, deviceScaleFactor: 1 });
    await page.goto("http://localhost:4184/");
    await page.locator("#generate:enabled").waitFor();
    await page.locator("#options > summary").click();
    await page.getByLabel("Seed").fill("12");
    await page.getByLabel("Tokens").fill("120");
    if (!options) await page.locator("#options > summary").click();
    await page.locator("#generate").click();
    await page.locator("#finish", { hasText: "Seed" }).waitFor();
    await page.screenshot({ path: resolve(folder, `${name}.png`), fullPage: true });
    console.log(`web/screenshots/${name}.png`);
    await page.close();
  }
} finally {
  await browser.close();
  await new Promise((done) => server.httpServer.close(done));
}
