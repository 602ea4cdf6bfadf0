// The page on a host without headers, in every browser: it writes, obeys the keys of its editor, and keeps its text.
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { prompt, root } from "../e2e/model.js";
import { cases } from "./cases.js";
import { Desk } from "./desk.js";
import { serve, type StaticHost } from "./static-host.js";
import { inBrowsers } from "./tab.js";

let plain: StaticHost;
test.beforeAll(async () => void (plain = await serve(false, { "/": resolve(root, "web/dist") })));
test.afterAll(() => plain.close());

inBrowsers(cases, (tab, { name, page: { variant, notice } }) => {
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

  if (/Chromium|shared/.test(name)) return; // tests/e2e has Chromium's tests of these, and one WebKit is enough

  test("keys take suggestions, undo and redo, and the page keeps a text that was just typed", async () => {
    await tab.repeatHangs(() => desk.open(`${plain.origin}/index.html`));
    await tab.run(() => document.querySelector<HTMLElement>("#editor .cm-content")?.focus());
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

    await tab.press("Control+End", "x", "y");
    await desk.shows(`${taken}xy`);
    for (const next of ["", "about:blank"]) {
      if (next) await tab.open(next);
      await tab.open(`${plain.origin}/?model=none/`);
      await desk.shows(`${taken}xy`);
    }
    await tab.run(() => void setTimeout(() => location.reload()));
    await desk.shows(`${taken}xy`);
  });
});
