// `npm run screenshot`: takes pictures of the built page in each state, at three widths, light and dark, and writes them
// to build/screenshots. The four pictures of the README go to web/screenshots. `npm run screenshot -- stage 390` takes
// only those whose names contain all words.
import { copyFileSync, mkdirSync } from "node:fs";
import { relative, resolve } from "node:path";
import { withBuiltPage } from "./built-page.mjs";
import { states } from "./screenshot-states.mjs";

const root = resolve(import.meta.dirname, "../..");
const folder = resolve(root, "build/screenshots");
const shown = resolve(root, "web/screenshots");
/** Sizes of the window. */
const sizes = [
  [390, 844],
  [1280, 800],
  [1920, 1080],
];
const schemes = /** @type {const} */ (["light", "dark"]);
/** The pictures of the README, by their names there. */
const best = {
  "suggestions-1280-light": "suggestions",
  "probability-1280-dark": "probability",
  "inside-1280-light": "inside",
  "stage-1920-dark": "stage",
};

const wanted = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
mkdirSync(shown, { recursive: true });
await withBuiltPage(async (newPage) => {
  for (const [state, reach] of Object.entries(states)) {
    for (const [width = 0, height = 0] of sizes) {
      for (const colorScheme of schemes) {
        const name = `${state}-${width}-${colorScheme}`;
        if (!wanted.every((part) => name.includes(part))) continue;
        const page = await newPage({ viewport: { width, height }, colorScheme, locale: "en" });
        await reach(page);
        const path = resolve(folder, `${name}.png`);
        await page.screenshot({ path });
        if (name in best) copyFileSync(path, resolve(shown, `${best[name]}.png`));
        console.log(relative(root, path));
        await page.close();
      }
    }
  }
});
