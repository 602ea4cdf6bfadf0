// `node web/scripts/icons.mjs`: draws the page's icons, web/page/public/icons/*.png, from icon.svg and maskable-icon.svg.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { launchChromium } from "./built-page.mjs";

const page = resolve(import.meta.dirname, "../page");
const folder = resolve(page, "public/icons");
const maskable = resolve(page, "maskable-icon.svg");
const icons = [
  { name: "icon-192.png", from: resolve(folder, "icon.svg"), pixels: 192 },
  { name: "icon-512.png", from: resolve(folder, "icon.svg"), pixels: 512 },
  { name: "maskable-512.png", from: maskable, pixels: 512 },
  { name: "apple-touch-icon.png", from: maskable, pixels: 180 }, // iOS rounds the corners itself
];

const browser = await launchChromium();
try {
  for (const { name, from, pixels } of icons) {
    const drawing = await browser.newPage({
      viewport: { width: pixels, height: pixels },
      deviceScaleFactor: 1,
    });
    const svg = readFileSync(from, "utf8");
    await drawing.setContent(`<style>body { margin: 0 } svg { display: block }</style>${svg}`);
    await drawing.screenshot({ path: resolve(folder, name), omitBackground: true });
    console.log(`web/page/public/icons/${name}`);
    await drawing.close();
  }
} finally {
  await browser.close();
}
