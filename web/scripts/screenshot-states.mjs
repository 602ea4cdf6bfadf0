// The states of the page for screenshots, and how to reach each of them.

/** @typedef {import("@playwright/test").Page} Page */

const text = (/** @type {Page} */ page) => page.locator("#editor .cm-content");

/** @param {Page} page */
async function openPage(page) {
  await page.goto("./");
  await page.locator("#generate:enabled").waitFor();
  await text(page).waitFor();
  await page.locator("#engine:not(:text-is('–'))").waitFor({ state: "attached", timeout: 60_000 }); // in a closed panel
}

/** Sets options by name, and closes the panel again. */
async function setOptions(/** @type {Page} */ page, /** @type {Record<string, string>} */ values) {
  await page.locator("#preset-shown").click();
  for (const [name, value] of Object.entries(values)) await page.locator(`#option-${name}`).fill(value);
  await page.locator("#panel-close").click();
}

/** Writes a text of visitor and model, the same each time. */
async function writeText(/** @type {Page} */ page, tokens = 110) {
  await openPage(page);
  await setOptions(page, { seed: "14", maxNewTokens: String(tokens) });
  await page.locator("#generate").click();
  await page.locator("#finish", { hasText: "Finished" }).waitFor({ timeout: 60_000 });
  await page.evaluate(() => window.scrollTo(0, 0));
}

/** Puts the caret into the middle of the text, which shows the token there. */
async function chooseToken(/** @type {Page} */ page, /** @type {string} */ view) {
  await page.locator(`#tab-${view}`).click();
  await text(page).press("Control+Home");
  for (let word = 0; word < 9; word += 1) await page.keyboard.press("Control+ArrowRight");
}

/** By name, in the order in which a visitor meets them. @type {Record<string, (page: Page) => Promise<void>>} */
export const states = {
  async loading(page) {
    await page.route("**/model.safetensors.001", (route) =>
      // Sends a part of the model and then nothing.
      new Promise((later) => setTimeout(later, 4000)).then(() => route.abort()),
    );
    await page.goto("./");
    await text(page).waitFor();
    await page.locator("#loading-bytes", { hasText: "MB" }).waitFor({ timeout: 60_000 });
  },
  async ready(page) {
    await openPage(page);
  },
  async written(page) {
    await writeText(page);
  },
  async suggestions(page) {
    await writeText(page);
    await text(page).press("Control+End");
    await page.keyboard.type(" She");
    await page.keyboard.press("Tab");
    await page.locator(".suggestions[aria-busy='false'] li").nth(2).waitFor({ timeout: 60_000 }); // suggestions grow until then
  },
  async probability(page) {
    await writeText(page);
    await chooseToken(page, "probability");
    await page.locator("#token ol").waitFor({ timeout: 60_000 });
    await page
      .locator("#scored", { hasText: /^\d+ tokens$/ })
      .waitFor({ state: "attached", timeout: 60_000 }); // hidden on a phone
    await page.evaluate(() => window.scrollTo(0, 0));
  },
  async inside(page) {
    await writeText(page, 40);
    await chooseToken(page, "inside");
    await page.locator("#inside .arcs").waitFor({ timeout: 60_000 });
    await page.waitForTimeout(1500); // the other layers
    // Beside the text it is already in sight.
    if ((page.viewportSize()?.width ?? 0) < 960)
      await page.locator("#inside").evaluate((part) => part.scrollIntoView({ block: "start" }));
    else await page.evaluate(() => window.scrollTo(0, 0));
  },
  async branches(page) {
    await writeText(page);
    await chooseToken(page, "probability");
    await page.locator("#token ol button[aria-pressed='false']:enabled").first().click();
    await page.locator("#branch-list button").first().waitFor({ timeout: 60_000 });
    await page.locator("#finish", { hasText: "Finished" }).waitFor({ timeout: 60_000 });
    await page.locator("#tab-text").click();
    await page.locator("#branches").evaluate((part) => part.scrollIntoView({ block: "end" }));
  },
  async options(page) {
    await writeText(page);
    await page.locator("#preset-shown").click();
    await page.locator("#picture").waitFor({ timeout: 60_000 });
  },
  async device(page) {
    await writeText(page);
    await page.locator("#menu-button").click();
    await page.locator("#menu [data-section=device]").click();
    await page.locator("#environment-list li").nth(3).waitFor({ timeout: 60_000 });
  },
  async stage(page) {
    await writeText(page);
    await text(page).press("Alt+Enter");
    await page.waitForTimeout(300); // the window follows
  },
};

export { openPage, setOptions, text };
