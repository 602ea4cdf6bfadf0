// `npm run bench:page`: the time from Tab to the first words of three suggestions, and to all of them. The text has 200
// tokens, and the model GPT-2 124M's shapes (random weights) in q8 on two threads. It is measured after a pause, in which
// the page has prefilled the text, and right after the last letter. A third case has Inside inspect the token before. The
// page's own measures, of `--rounds`. Needs `npm run build` and gpt2-weights. Options: -- --rounds, --model (a folder),
// --json.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../../engine/toolchain/build.mjs";
import { openBrowser } from "../browser.mjs";
import { median } from "../figures.mjs";
import { makeModel } from "../models.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    model: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
if (!(Number.isInteger(rounds) && rounds >= 1)) {
  console.error(`bench:page: --rounds is a whole number from 1 on, not "${values.rounds}"`);
  process.exit(2);
}
const folder = values.model ?? makeModel("q8");
const tokenizer = join(root, "tests/data/gpt2-tokenizer");
const words = " the red ball was in the old house by the sea and she saw it".repeat(14); // of one token each
const textOf = (/** @type {number} */ tokens) => `Once${words.split(" ").slice(0, tokens).join(" ")}`;

const browser = await openBrowser({ "/bench/model": folder, "/bench/tokenizer": tokenizer });
try {
  const page = await browser.openPage();
  // A model of random weights has no words of its own: GPT-2's.
  for (const name of ["vocab.json", "merges.txt"]) {
    await page.route(`**/bench/model/${name}`, (route) =>
      route.continue({ url: route.request().url().replace("/model/", "/tokenizer/") }),
    );
  }
  await page.goto(`${page.url().replace(/\?.*/, "")}?model=bench/model/&threads=2`);
  await page.locator("#engine:not(:text-is('–'))").waitFor({ timeout: 120_000 });
  const text = page.locator("#editor .cm-content");
  await text.waitFor();

  const setText = (/** @type {string} */ insert) =>
    page.locator("#editor").evaluate((element, all) => {
      const { view } = /** @type {any} */ (element);
      const changes = { from: 0, to: view.state.doc.length, insert: all };
      view.dispatch({ changes, selection: { anchor: all.length } });
      view.focus();
    }, insert);
  /** Milliseconds from Tab to what is shown, by the page's own measures; then all is dismissed. */
  const suggest = async () => {
    await page.evaluate(() => performance.clearMeasures());
    await page.keyboard.press("Tab");
    await page.waitForFunction(() => performance.getEntriesByName("wholeSuggestions").length > 0, undefined, {
      timeout: 60_000,
      polling: 20,
    });
    const [first = NaN, whole = NaN] = await page.evaluate(() =>
      ["suggestions", "wholeSuggestions"].map((name) => performance.getEntriesByName(name)[0]?.duration),
    );
    await page.waitForTimeout(600); // others may join
    await page.keyboard.press("Escape");
    return { first, whole };
  };
  /** The medians and the least of rounds in which a word is typed, then `wait` passes. */
  const typedThen = async (/** @type {number} */ wait) => {
    const all = [];
    for (let round = 0; round < rounds; round += 1) {
      await page.keyboard.type(" and", { delay: 60 });
      await page.waitForTimeout(wait);
      all.push(await suggest());
    }
    const firsts = all.map(({ first }) => first);
    return {
      median: median(firsts),
      least: Math.min(...firsts),
      whole: median(all.map(({ whole }) => whole)),
    };
  };

  await setText(textOf(190));
  await page.waitForTimeout(3000); // it is read
  await suggest(); // by now the browser has compiled what is at work
  const afterPause = await typedThen(700);
  const atOnce = await typedThen(0);

  await page.locator("#tab-inside").click();
  await text.focus();
  const besideInside = await typedThen(250); // Inside has begun to look
  const found = { afterPause, atOnce, besideInside };
  if (values.json) console.log(JSON.stringify(found));
  else {
    console.log(
      `Chromium ${browser.version}, ${folder}, median and least of ${rounds} to the first words, median to the last:`,
    );
    const tell = (
      /** @type {string} */ when,
      /** @type {typeof afterPause} */ { median: usual, least, whole },
    ) =>
      console.log(
        `  Tab ${when.padEnd(30)} ${usual.toFixed(0)} ms, ${least.toFixed(0)} ms; ${whole.toFixed(0)} ms`,
      );
    tell("after a pause", afterPause);
    tell("right behind the last letter", atOnce);
    tell("while Inside looks", besideInside);
  }
} finally {
  await browser.close();
}
