// In every browser the library keeps several texts: each comes back by a press on its name, also after a reload.
import { resolve } from "node:path";
import { test } from "@playwright/test";
import type { Browser } from "./browser.js";
import { cases } from "./cases.js";
import { serve, type StaticHost } from "./static-host.js";
import { until } from "./until.js";

const root = resolve(import.meta.dirname, "../..");

let host: StaticHost;
test.beforeAll(async () => {
  host = await serve(true, { "/": resolve(root, "web/dist") });
});
test.afterAll(() => host.close());

/** An expression for the text of the editor, after it has loaded. */
const text = `document.getElementById("editor")?.view?.state.doc.toString() ?? ""`;
const names = `[...document.querySelectorAll("#library-panel .text-name")].map((name) => name.textContent).sort().join("; ")`;
const status = `document.querySelector("#library-panel [role=status]")?.textContent`;
/** An expression for the row that begins with these words. */
const row = (name: string) =>
  `[...document.querySelectorAll("#library-panel li")].find((item) => item.textContent.startsWith(${JSON.stringify(name)}))`;

async function run(browser: Browser, statement: string): Promise<void> {
  await browser.evaluate(`(async () => { ${statement}; return ""; })()`);
}
const click = (browser: Browser, element: string) => run(browser, `(${element}).click()`);
const clickNamed = (browser: Browser, name: string, inside = `document.getElementById("library-panel")`) =>
  click(
    browser,
    `[...(${inside}).querySelectorAll("button")].find((each) => each.textContent === ${JSON.stringify(name)})`,
  );

for (const { name, launch } of cases) {
  test(`${name}: texts are begun, opened, renamed, deleted and restored`, async () => {
    const browser: Browser = await launch();
    const address = `${host.origin}/?model=none/`;
    const shows = (expected: string) => until(browser, `(${text}) === ${JSON.stringify(expected)}`);
    const lists = (expected: string) => until(browser, `(${names}) === ${JSON.stringify(expected)}`);
    try {
      await browser.open(address);
      await shows("Once upon a time");
      await run(browser, `document.querySelector("#editor .cm-content").focus()`);
      await browser.press("Control+End", "a", "b");
      await shows("Once upon a timeab");
      await click(browser, `document.querySelector("#library-open")`);
      await lists("Once upon a timeab");
      await clickNamed(browser, "New text");
      await shows("");
      await run(browser, `document.querySelector("#editor .cm-content").focus()`);
      await browser.press("x", "y");
      await shows("xy");
      await click(browser, `document.querySelector("#panel-close")`);
      await click(browser, `document.querySelector("#library-open")`);
      await lists("Once upon a timeab; xy");

      await clickNamed(browser, "Rename", row("xy"));
      await until(browser, `document.activeElement?.matches("#library-panel input") ?? false`);
      await browser.press("Control+a", "Z", "Enter");
      await lists("Once upon a timeab; Z");
      await click(browser, `${row("Once")}.querySelector("button")`);
      await shows("Once upon a timeab");
      await browser.press("Control+z");
      await shows("Once upon a time");
      await browser.press("Control+Shift+z");
      await shows("Once upon a timeab");

      await clickNamed(browser, "Delete", row("Z"));
      await until(browser, `(${status}) === "Deleted: Z"`);
      await lists("Once upon a timeab");
      await clickNamed(browser, "Undo");
      await lists("Once upon a timeab; Z");

      await click(browser, `${row("Z")}.querySelector("button")`);
      await shows("xy");
      await run(browser, `setTimeout(() => location.reload())`);
      await shows("xy");
      await until(
        browser,
        `document.querySelector("#library-open").checkVisibility({ visibilityProperty: true })`,
      );
      await click(browser, `document.querySelector("#library-open")`);
      await lists("Once upon a timeab; Z");
    } finally {
      await browser.close();
    }
  });
}
