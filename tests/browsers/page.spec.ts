// The page on a host without headers, in every browser. In browsers that tests/e2e does not run in, also its keys, the inside of
// the model and the stored texts.
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { prompt, root } from "../e2e/model.js";
import { cases } from "./cases.js";
import { Desk } from "./desk.js";
import { serve, type StaticHost } from "./static-host.js";
import { inBrowsers } from "./tab.js";

let plain: StaticHost;
let isolated: StaticHost;
test.beforeAll(async () => {
  const folders = { "/": resolve(root, "web/dist") };
  [plain, isolated] = await Promise.all([serve(false, folders), serve(true, folders)]);
});
test.afterAll(() => Promise.all([plain.close(), isolated.close()]));

inBrowsers(cases, (tab, { page: { variant, notice } }) => {
  const desk = new Desk(tab);

  test("the page writes on a host without headers", async () => {
    await tab.repeatHangs(() => desk.open(`${plain.origin}/index.html`));
    await desk.writeOn(prompt);
    const shown = await tab.run(() => ({
      engine: document.getElementById("engine")?.textContent,
      notice: document.querySelector("#notice:not([hidden])")?.textContent ?? "",
    }));
    expect(shown.engine).toContain(`${variant},`);
    expect((await desk.text()).length).toBeGreaterThan(prompt.length + 20);
    if (notice) expect(shown.notice).toMatch(notice);
    else expect(shown.notice).toBe("");
  });
});

// Chromium's tests of these are in tests/e2e, and one WebKit is enough.
const others = cases.filter(({ name }) => name === "Firefox" || name === "WebKitGTK");
inBrowsers(others, (tab) => {
  const desk = new Desk(tab);

  test("keys take suggestions, undo and redo, branch and go back, and change the view", async () => {
    await tab.repeatHangs(() => desk.open(`${plain.origin}/index.html`));
    await desk.focus("#editor .cm-content");
    const begun = "Once upon a time, there was a";
    await tab.press("Control+a", ...begun.split(""));
    expect(await desk.text()).toBe(begun);
    await tab.press("Tab");
    await tab.until(() => document.querySelectorAll(".suggestions li").length === 3);
    await tab.until(() => document.querySelector(".suggestions")?.ariaBusy === "false");
    const suggested = await tab.run(() => document.querySelector(".suggestions li")?.textContent);
    await tab.press("Tab");
    const taken = `${begun} ${suggested}`;
    expect(await desk.text()).toBe(taken);
    await tab.press("Control+z");
    expect(await desk.text()).toBe(begun);
    await tab.press("Control+y");
    expect(await desk.text()).toBe(taken);

    await desk.setOption("maxNewTokens", "5");
    await tab.run(() => void (location.hash = "view=probability"));
    await tab.until(() => /^\d+ tokens$/.test(document.getElementById("scored")?.textContent ?? ""));
    expect(await tab.run(() => document.querySelectorAll("#editor .token").length)).toBeGreaterThan(5);
    await desk.focus(".cm-content");
    await tab.press("Alt+ArrowDown");
    const other = "#token [aria-pressed=false]:enabled";
    await tab.until((selector) => document.querySelector(selector), other);
    await desk.focus(other);
    await tab.press("Enter");
    await desk.contains("#finish", "Finished");
    const branched = await desk.text();
    expect(branched).not.toBe(taken);
    expect(branched.startsWith(begun)).toBe(true);
    await desk.focus("[data-branch='0']");
    await tab.press("Enter");
    await desk.shows(taken);
  });

  test("the page shows the inside of the model and its state, and passes the self-test", async () => {
    const [seen, tested] = await tab.repeatHangs(async () => {
      await tab.open(`${plain.origin}/index.html#view=inside`);
      await desk.contains("#inside .inside-state p", "Inspected: 6 layers");
      const guesses = await tab.run(() => {
        (document.getElementById("device") as HTMLDetailsElement).open = true;
        const root = document.querySelector(".inside-figures > div")?.shadowRoot;
        return [...(root?.querySelectorAll(".lens .guess") ?? [])].map((guess) => guess.textContent);
      });
      await desk.contains("#device-panel dd", "release");
      await desk.click(".self-test button");
      const status = ".self-test [role=status]";
      await tab.until(
        (selector) =>
          /^(Passed|Failed|The test could)/.test(document.querySelector(selector)?.textContent ?? ""),
        status,
      );
      return [guesses, await tab.run((selector) => document.querySelector(selector)?.textContent, status)];
    });
    expect(seen).toEqual(Array(7).fill(expect.stringMatching(/./))); // the embedding and six layers
    expect(tested).toMatch(/^Passed: all \d+ checks\./);
  });

  test("the library's texts are begun, opened, renamed, deleted and restored, also at once after typing", async () => {
    const address = `${isolated.origin}/?model=none/`;
    await tab.open(address);
    await desk.shows("Once upon a time");
    await desk.focus("#editor .cm-content");
    await tab.press("Control+End", "a", "b");
    await desk.shows("Once upon a timeab");
    await tab.open(address);
    await desk.shows("Once upon a timeab");
    await tab.open("about:blank");
    await tab.open(address);
    await desk.shows("Once upon a timeab");

    await desk.openLibrary();
    await desk.lists("Once upon a timeab");
    await desk.library("New text");
    await desk.shows("");
    await desk.focus("#editor .cm-content");
    await tab.press("x", "y");
    await desk.shows("xy");
    await desk.click("#panel-close");
    await desk.openLibrary();
    await desk.lists("Once upon a timeab", "xy");
    await desk.library("Rename", "xy");
    await tab.until(() => document.activeElement?.matches("#library-panel input"));
    await tab.press("Control+a", "Z", "Enter");
    await desk.lists("Once upon a timeab", "Z");
    await desk.library(null, "Once");
    await desk.shows("Once upon a timeab");
    await tab.press("Control+z");
    await desk.shows("Once upon a time");
    await tab.press("Control+Shift+z");
    await desk.shows("Once upon a timeab");

    await desk.library("Delete", "Z");
    await desk.contains("#library-panel [role=status]", "Deleted: Z");
    await desk.lists("Once upon a timeab");
    await desk.library("Undo");
    await desk.lists("Once upon a timeab", "Z");
    await desk.library(null, "Z");
    await desk.shows("xy");
    await tab.run(() => void setTimeout(() => location.reload()));
    await desk.shows("xy");
    await desk.openLibrary();
    await desk.lists("Once upon a timeab", "Z");
  });
});
