// The page on a host without headers, in every browser. It writes, obeys the keys of its editor, and keeps its text. It also
// opens without its host, and in one file.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import { demo, prompt, root } from "../e2e/model.js";
import { cases } from "./cases.js";
import { serve, type StaticHost } from "./static-host.js";
import { inBrowsers } from "./tab.js";

/** The editor's element, with its CodeMirror view once that has loaded. */
type Editor = HTMLElement & { view?: { state: { doc: { toString(): string } } } };

const dist = { "/": resolve(root, "web/dist") };
let plain: StaticHost;
test.beforeAll(async () => void (plain = await serve(dist)));
test.afterAll(() => plain.close());

inBrowsers(cases, (tab, { name, page: { variant, notice } }) => {
  const contains = (selector: string, text: string) =>
    tab.until(([wanted, expected]) => document.querySelector(wanted)?.textContent.includes(expected), [
      selector,
      text,
    ] as const);
  const open = async (url: string) => {
    await tab.open(url);
    await contains("#engine", "thread");
    await tab.until(() => document.querySelector("#editor .cm-content"));
  };
  const text = () =>
    tab.run(() => (document.getElementById("editor") as Editor).view?.state.doc.toString() ?? "");
  const shows = (expected: string) =>
    tab.until((wanted) => {
      const editor: Editor | null = document.getElementById("editor");
      return editor?.view?.state.doc.toString() === wanted;
    }, expected);

  async function type(written: string): Promise<void> {
    await tab.run(() => document.querySelector<HTMLElement>("#editor .cm-content")?.focus());
    await tab.press("Control+a", ...Array.from(written));
    expect(await text()).toBe(written);
  }
  /** Replaces the text, and lets the model continue it. */
  async function writeOn(begun: string): Promise<void> {
    await type(begun);
    await tab.run(() => document.getElementById("generate")?.click());
    await contains("#finish", "Finished");
    expect((await text()).length).toBeGreaterThan(begun.length + 20);
  }

  test("the page writes on a host without headers", async () => {
    await tab.repeatHangs(() => open(`${plain.origin}/index.html`));
    await writeOn(prompt);
    const shown = await tab.run(() => ({
      engine: document.getElementById("engine")?.textContent,
      notice: document.querySelector("#notice:not([hidden])")?.textContent ?? "",
    }));
    expect(shown.engine).toContain(`${variant},`);
    if (notice) expect(shown.notice).toMatch(notice);
    else expect(shown.notice).toBe("");
  });

  if (/Chromium|shared/.test(name)) return; // tests/e2e has Chromium's tests of these, and one WebKit is enough

  test("keys take suggestions, undo and redo, and the page keeps a text that was just typed", async () => {
    await tab.repeatHangs(() => open(`${plain.origin}/index.html`));
    const begun = "Once upon a time, there was a";
    await type(begun);
    await tab.press("Tab");
    await tab.until(() => document.querySelectorAll(".suggestions li").length === 3);
    await tab.until(() => document.querySelector(".suggestions")?.ariaBusy === "false");
    const suggested = await tab.run(() => document.querySelector(".suggestions li")?.textContent);
    await tab.press("Tab");
    const taken = `${begun} ${suggested}`;
    expect(await text()).toBe(taken);
    await tab.press("Control+z");
    expect(await text()).toBe(begun);
    await tab.press("Control+y");
    expect(await text()).toBe(taken);

    await tab.press("Control+End", "x", "y");
    await shows(`${taken}xy`);
    for (const next of ["", "about:blank"]) {
      if (next) await tab.open(next);
      await tab.open(`${plain.origin}/?model=none/`);
      await shows(`${taken}xy`);
    }
    await tab.run(() => void setTimeout(() => location.reload()));
    await shows(`${taken}xy`);
  });

  test("the page opens again after its host has gone", async () => {
    const host = await serve(dist);
    await tab.open(`${host.origin}/index.html?variant=simd`);
    await tab.until(() => document.getElementById("offline")?.checkVisibility()).finally(() => host.close());
    await expect(fetch(host.origin)).rejects.toThrow();
    await tab.open(`${host.origin}/?variant=simd`);
    await contains("#engine", "1 thread");
  });

  test("the page in one file opens from disk, writes without a request, and frees its weights", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gpt2-one-file-"));
    const file = join(folder, "a story.html");
    execFileSync("node", ["web/scripts/export.mjs", "--model", demo, "-o", file], { cwd: root });
    await open(pathToFileURL(file).href).finally(() => rmSync(folder, { recursive: true }));
    await writeOn(prompt);
    const [files, requests] = await tab.run(() => [
      document.querySelectorAll("script[data-file]").length,
      performance.getEntriesByType("resource").filter(({ name: url }) => !/^(blob|data):/.test(url)).length,
    ]);
    expect({ files, requests }).toEqual({ files: 0, requests: 0 });
  });
});
