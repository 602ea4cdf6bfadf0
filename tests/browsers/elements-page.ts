// Pages with the elements in them, in every browser.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "@playwright/test";
import type { Browser } from "./browser.js";
import { cases } from "./cases.js";
import { serve, type StaticHost } from "./static-host.js";
import { until } from "./until.js";

const root = resolve(import.meta.dirname, "../..");

/** Globals of the pages: `until` waits for a condition; `heard` contains the elements' events. */
const setUp = (body: string) => `(async () => {
  document.body.innerHTML = ${JSON.stringify(body)};
  globalThis.heard = [];
  for (const name of ["gpt2-done", "gpt2-error", "gpt2-accept"])
    document.addEventListener(name, ({ type, detail }) =>
      heard.push([type, detail.text ?? detail.error?.message]));
  globalThis.warned = [];
  const { warn } = console;
  console.warn = (...all) => (warned.push(all.join(" ")), warn(...all));
  globalThis.until = async (holds, what) => {
    for (const end = Date.now() + 60000; !holds(); await new Promise((soon) => setTimeout(soon, 20)))
      if (Date.now() > end) throw new Error("waited in vain for " + (what ?? holds) + JSON.stringify(heard));
  };
  globalThis.frames = async () => {
    for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
  };
  globalThis.pause = (ms) => new Promise((later) => setTimeout(later, ms));
  globalThis.elements = await import("/gpt2-element.js");
  const tags = "gpt2-autocomplete, gpt2-writer";
  globalThis.element = document.querySelector(tags);
  globalThis.field = document.getElementById("f");
  globalThis.ghost = () => element.shadowRoot.querySelector(".ghost").textContent;
  globalThis.write = (text) => {
    field.focus();
    field.setRangeText(text, 0, field.value.length, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  };
  globalThis.suggest = async (text = "One day, a little girl") => {
    write(text);
    await until(() => ghost() !== "", "a suggestion");
    return ghost();
  };
  return "";
})()`;

const model = `model="/models/demo/" threads="1"`;
export const suggesting = (attributes = "", rest = "") =>
  `<form><textarea id="f" rows="4" cols="60" ${attributes}></textarea></form>
   <gpt2-autocomplete for="f" ${model} delay="10" max-new-tokens="4" ${rest}></gpt2-autocomplete>`;
export const inLine = (attributes = "") =>
  suggesting(attributes).replace(/<textarea (.*)><\/textarea>/, "<input $1>");
export const writing = (attributes = "") =>
  `<form><label for="w">Tale</label><gpt2-writer id="w" name="w" ${model} prompt="One day" ${attributes}></gpt2-writer></form>
   <p></p>`;

/** One browser and the page in it. */
export class ElementsPage {
  private readonly current: () => Browser;
  private readonly host: () => StaticHost;

  constructor(current: () => Browser, host: () => StaticHost) {
    this.current = current;
    this.host = host;
  }

  async open(body: string): Promise<void> {
    await this.current().open(`${this.host().origin}/blank.html`);
    await this.current().evaluate(setUp(body));
  }

  /** Opens /page/, the page of the tests. */
  async openPage(): Promise<void> {
    await this.current().open(`${this.host().origin}/page/`);
  }

  /** Waits until a condition holds, even if the page navigates to another. */
  until(condition: string): Promise<void> {
    return until(this.current(), condition);
  }

  /** Runs `code`, the body of an asynchronous function, and returns its result. */
  async evaluate(code: string): Promise<unknown> {
    const answer = `(async () => { ${code} })().then((all) => JSON.stringify(all ?? null))`;
    return JSON.parse(await this.current().evaluate(answer));
  }

  press(...keys: string[]): Promise<void> {
    return this.current().press(...keys);
  }
}

/** The same tests in Chromium, Firefox and WebKitGTK, with `html` as /page/. */
export function inEveryBrowser(what: string, tests: (page: ElementsPage) => void, html = ""): void {
  let host: StaticHost;
  const folder = mkdtempSync(join(tmpdir(), "gpt2-elements-"));
  test.beforeAll(async () => {
    writeFileSync(join(folder, "index.html"), html);
    const folders = { "/page/": folder, "/": resolve(root, "web/dist") };
    host = await serve(false, folders, { lasting: true });
  });
  test.afterAll(async () => {
    await host.close();
    rmSync(folder, { recursive: true });
  });
  for (const { name, launch } of cases.slice(0, 3)) {
    test.describe.serial(`${what} in ${name}`, () => {
      let browser: Browser;
      test.beforeAll(async () => void (browser = await launch()));
      test.afterAll(() => browser.close());
      tests(
        new ElementsPage(
          () => browser,
          () => host,
        ),
      );
    });
  }
}
