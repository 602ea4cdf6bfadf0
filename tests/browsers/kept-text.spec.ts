// In every browser a text is restored when the page is opened again, even if it was left right after typing.
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

for (const { name, launch } of cases) {
  test(`${name}: a text survives a reload and a return to its address, even at once after typing`, async () => {
    const browser: Browser = await launch();
    const address = `${host.origin}/?model=none/`;
    const comesBack = (expected: string) => until(browser, `(${text}) === ${JSON.stringify(expected)}`);
    try {
      await browser.open(address);
      await comesBack("Once upon a time");
      await browser.evaluate(`(async () => {
        document.querySelector("#editor .cm-content").focus();
        return "";
      })()`);
      await browser.press("Control+End", "a", "b", "c");
      await comesBack("Once upon a timeabc");
      await browser.open(address);
      await comesBack("Once upon a timeabc");
      await browser.evaluate(`(async () => void setTimeout(() => location.reload()))()`);
      await comesBack("Once upon a timeabc");
      await browser.open("about:blank");
      await browser.open(address);
      await comesBack("Once upon a timeabc");
    } finally {
      await browser.close();
    }
  });
}
