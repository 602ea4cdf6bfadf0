// Measures what a writer notices on the page: how soon suggestions come, and how soon a key is shown.
import { join } from "node:path";
import { buildPreset, buildWeb, root, run } from "../../engine/toolchain/build.mjs";
import { openBrowser } from "./browser.mjs";
import { median } from "./figures.mjs";
import { makeModel } from "./models.mjs";

/** @import { Flags, Rows } from "./run.mjs" */

const tokenizer = join(root, "tests/data/gpt2-tokenizer");
const words = " the red ball was in the old house by the sea and she saw it".repeat(14); // of one token each
const text = `Once${words.split(" ").slice(0, 190).join(" ")}`;

/** Milliseconds from Tab to the suggestions, as the page measures them. Dismisses the suggestions afterwards. */
async function suggest(page) {
  await page.evaluate(() => performance.clearMeasures());
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => performance.getEntriesByName("wholeSuggestions").length > 0, undefined, {
    timeout: 60_000,
    polling: 20,
  });
  const [first = NaN, whole = NaN] = await page.evaluate(() =>
    ["suggestions", "wholeSuggestions"].map((name) => performance.getEntriesByName(name)[0]?.duration),
  );
  await page.waitForTimeout(600); // more suggestions may arrive
  await page.keyboard.press("Escape");
  return { first, whole };
}

/** Types a word, waits `wait` ms and requests suggestions, in each round. Returns the times of the suggestions. */
async function typedThen(page, rounds, wait) {
  const all = [];
  for (let round = 0; round < rounds; round += 1) {
    await page.keyboard.type(" and", { delay: 60 });
    await page.waitForTimeout(wait);
    all.push(await suggest(page));
  }
  const firsts = all.map(({ first }) => first);
  return {
    "first words, ms": median(firsts),
    "least, ms": Math.min(...firsts),
    "all, ms": median(all.map(({ whole }) => whole)),
  };
}

export const suggestions = {
  about: "on the page: the time from Tab to the first words of three suggestions, and to their last",
  /** @param {Flags} flags */
  async measure({ build, model, threads, rounds = 9, "js-flags": jsFlags }) {
    if (build) {
      buildWeb();
      buildPreset("native", { targets: ["gpt2-weights"] });
    }
    const folders = { "/bench/model": model ?? makeModel("q8"), "/bench/tokenizer": tokenizer };
    const browser = await openBrowser(folders, jsFlags);
    try {
      const page = await browser.openPage();
      // A model of random weights has no tokenizer, so it gets GPT-2's.
      for (const name of model === undefined ? ["vocab.json", "merges.txt"] : []) {
        await page.route(`**/bench/model/${name}`, (route) =>
          route.continue({ url: route.request().url().replace("/model/", "/tokenizer/") }),
        );
      }
      await page.goto(`${page.url().replace(/\?.*/, "")}?model=bench/model/&threads=${threads}`);
      await page.locator("#engine:not(:text-is('–'))").waitFor({ timeout: 120_000, state: "attached" });
      await page.locator("#editor .cm-content").waitFor();
      await page.locator("#editor").evaluate((element, insert) => {
        const { view } = /** @type {any} */ (element);
        const changes = { from: 0, to: view.state.doc.length, insert };
        view.dispatch({ changes, selection: { anchor: insert.length } });
        view.focus();
      }, text);
      await page.waitForTimeout(3000); // until the model has read it
      await suggest(page); // the browser compiles the hot code
      /** @type {Rows} */
      const rows = { "after a pause": await typedThen(page, rounds, 700) };
      rows["directly after the last letter"] = await typedThen(page, rounds, 0);
      await page.locator("#tab-inside").click();
      await page.locator("#editor .cm-content").focus();
      rows["while Inside computes"] = await typedThen(page, rounds, 250); // Inside has started to compute
      return { title: `Medians of ${rounds}, Chromium ${browser.version}`, rows };
    } finally {
      await browser.close();
    }
  },
};

export const fluency = {
  about: "on the page: the time from a key to its frame, and the longest tasks of the main thread",
  async measure() {
    run("npx", ["playwright", "test", "-c", join(import.meta.dirname, "page/playwright.config.ts")]);
    return undefined;
  },
};
