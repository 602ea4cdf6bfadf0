// Modules that are replaced while the page is open, as development servers do: nothing is loaded twice.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { addModels, bin, makeApp, startServer } from "./app.js";

/** A module that writes a heading and the element into the page, in place of the previous ones. */
const view = (heading: string) => `
  export function render() {
    document.querySelector("main").innerHTML = \`<h1>${heading}</h1>
      <gpt2-writer model="models/demo/" prompt="Once" max-new-tokens="5" seed="1"></gpt2-writer>\`;
  }`;

/** A module that runs again when it has changed, and may load the model itself. */
const main = (title: string, ownModel: boolean) => `
  import "gpt2-wasm/element";
  import { loadModel } from "gpt2-wasm";
  import { render } from "./view.js";
  ${ownModel ? 'globalThis.model = await loadModel("models/demo/");' : ""}
  document.title = "${title}";
  render();
  import.meta.hot.accept("./view.js", (changed) => changed.render());
  import.meta.hot.accept();`;

async function expectWritten(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Write" }).click();
  const story = page.locator("gpt2-writer").getByRole("textbox");
  await expect(story).toHaveValue("Once upon a time, there");
}

for (const ownModel of [false, true]) {
  test(`Vite's hot replacement keeps the model of ${ownModel ? "a script" : "an element"}`, async ({
    page,
  }) => {
    const folder = makeApp("vite");
    addModels(join(folder, "public"));
    // As editors save: Vite's watcher may read a file that is emptied first, and then ignores what follows within 5 ms.
    const write = (file: string, text: string) => {
      writeFileSync(join(folder, `${file}.new`), text);
      renameSync(join(folder, `${file}.new`), join(folder, file));
    };
    write("index.html", `<!doctype html><main></main><script type="module" src="./main.js"></script>`);
    write("main.js", main("First", ownModel));
    write("view.js", view("First"));
    const server = await startServer(folder, bin("vite"), "--port={port}", "--host=localhost");
    try {
      let documents = 0;
      page.on("domcontentloaded", () => (documents += 1));
      const fetched: string[] = [];
      page.on("request", (request) => {
        const { pathname } = new URL(request.url());
        if (/^\/models\/|gpt2-worker|\.wasm$/.test(pathname)) fetched.push(pathname);
      });
      await page.goto(server.origin);
      await expectWritten(page);
      const once = [...fetched];
      expect(once.filter((path) => path.endsWith("model.safetensors.000"))).toHaveLength(1);
      write("view.js", view("Second"));
      await expect(page.locator("h1")).toHaveText("Second");
      await expectWritten(page);
      write("main.js", main("Second", ownModel));
      await expect(page).toHaveTitle("Second");
      await expectWritten(page);
      expect(fetched).toEqual(once);
      expect(page.workers()).toHaveLength(1);
      expect(documents).toBe(1); // a reload would make a second one
    } finally {
      server.stop();
    }
  });
}
