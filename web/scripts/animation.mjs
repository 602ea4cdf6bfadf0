// `npm run animation`: ten seconds of Tab, suggestions and branching in the built page, as web/screenshots/writing.webp. Needs
// `npm run build` first, and img2webp (Debian's webp).
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { aptInstall, pictureTools } from "../../engine/toolchain/system-packages.mjs";
import { withBuiltPage } from "./built-page.mjs";
import { openPage, setOptions, text } from "./screenshot-states.mjs";

const target = resolve(import.meta.dirname, "../screenshots/writing.webp");
const viewport = { width: 880, height: 620 };
const mostBytes = 1_000_000;

/** Records the frames in `folder`; returns their names and durations in milliseconds. */
async function play(page, folder) {
  const frames = [];
  const show = async (ms) => {
    const path = join(folder, `${frames.length}.png`);
    await page.screenshot({ path, caret: "initial" });
    frames.push({ path, ms });
  };
  const type = async (words) => {
    for (const letter of words) {
      await page.keyboard.type(letter);
      await show(55);
    }
  };
  const suggest = async (downs) => {
    await page.keyboard.press("Tab");
    await page.locator(".suggestions li").nth(2).waitFor({ timeout: 60_000 });
    await show(700);
    for (let down = 0; down < downs; down += 1) {
      await page.keyboard.press("ArrowDown");
      await show(350);
    }
    await page.keyboard.press("Enter");
    await show(400);
  };
  /** Waits until the model has written. */
  const follow = async () => {
    const isBusy = () => text(page).evaluate((element) => element.ariaBusy === "true");
    do await show(90);
    while (await isBusy());
  };

  await openPage(page);
  await setOptions(page, { seed: "7", maxNewTokens: "36" });
  await page.evaluate(() => window.scrollTo(0, 0));
  await text(page).press("Control+End");
  await show(500);
  await type(", a fox who");
  await suggest(1);
  await type(" sing");
  await suggest(2);
  await page.keyboard.press("Control+Enter");
  await follow();
  await show(500);
  // Replaces a token by another one.
  await page.locator("#tab-probability").click();
  await text(page).press("Control+Home");
  for (let word = 0; word < 10; word += 1) await page.keyboard.press("Control+ArrowRight");
  await page.locator("#token ol").waitFor({ timeout: 60_000 });
  await page.evaluate(() => window.scrollTo(0, 0));
  await show(1300);
  const other = page.locator("#token ol button[aria-pressed='false']:enabled").nth(1);
  await other.hover();
  await show(600);
  await other.click();
  await page.mouse.move(0, 0); // otherwise it would point at whatever appears there
  await page.locator("#branch-list button").first().waitFor({ timeout: 60_000 });
  await follow();
  await show(900);
  await page.locator("#tab-text").click();
  await page.locator("#branches").evaluate((part) => part.scrollIntoView({ block: "end" }));
  await show(1500);
  return frames;
}

aptInstall(pictureTools);
const folder = mkdtempSync(join(tmpdir(), "animation-"));
try {
  await withBuiltPage(async (newPage) => {
    const page = await newPage({ viewport, colorScheme: "light", locale: "en" });
    const frames = await play(page, folder);
    const inTurn = frames.flatMap(({ path, ms }) => ["-d", String(ms), "-lossless", "-m", "6", path]);
    execFileSync("img2webp", ["-loop", "0", "-min_size", ...inTurn, "-o", target]);
    const seconds = frames.reduce((sum, { ms }) => sum + ms, 0) / 1000;
    const { size } = statSync(target);
    console.log(
      `web/screenshots/writing.webp: ${frames.length} frames, ${seconds.toFixed(1)} s, ${size} bytes`,
    );
    if (size >= mostBytes) throw new Error(`expected less than ${mostBytes} bytes, found ${size}`);
  });
} finally {
  rmSync(folder, { recursive: true });
}
