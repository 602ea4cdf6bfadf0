// Light bundlers, and no bundler at all, with what npm packs.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { serve } from "../browsers/static-host.js";
import { expectStory, expectWriter, makeApp, root, run } from "./app.js";

const models = { "/models/": join(root, "web/models") };
const bin = (name: string) => join(root, "node_modules/.bin", name);

test("the module works with an import map, on a host with headers and below a sub-path", async ({ page }) => {
  const folder = makeApp("import-map");
  const host = await serve(true, { "/some/where/models/": join(root, "web/models"), "/some/where/": folder });
  await expectStory(page, `${host.origin}/some/where/`, "threads-relaxed");
  await host.close();
});

test("the elements work without a script of your own", async ({ page }) => {
  const host = await serve(true, { ...models, "/": makeApp("element") });
  await page.goto(host.origin);
  await page.getByRole("button", { name: "Write" }).click();
  const story = page.getByRole("textbox", { name: "A story" });
  await expect(story).toHaveValue(/^Once upon a time(\W+\w+){10}/, { timeout: 30_000 });
  await page.getByRole("textbox", { name: /^A letter/ }).pressSequentially("Tom and Sue went");
  await expect(page.locator("gpt2-autocomplete .ghost")).toHaveText(/\w/, { timeout: 30_000 });
  await host.close();
});

test("the elements in one file work alone in a folder", async ({ page }) => {
  const folder = makeApp("element");
  const alone = join(folder, "alone");
  mkdirSync(alone);
  renameSync(
    join(folder, "node_modules/gpt2-wasm/build/package/gpt2-element.bundle.js"),
    join(alone, "elements.js"),
  );
  writeFileSync(
    join(alone, "index.html"),
    `<!doctype html><title>One file</title><script type="module" src="elements.js"></script>
     <gpt2-writer model="models/demo/" prompt="Once upon a time" max-new-tokens="24" seed="1"></gpt2-writer>`,
  );
  const host = await serve(true, { ...models, "/": alone });
  const asked = new Set<string>();
  page.on("request", (request) => asked.add(request.url().replace(host.origin, "")));
  await expectWriter(page, `${host.origin}/index.html`);
  const others = [...asked].filter((address) => !/^(blob:|data:|\/models\/|\/favicon)/.test(address));
  expect(others.sort()).toEqual(["/elements.js", "/index.html"]);
  await host.close();
});

test("the module works when built by Vite with a base that is not the root", async ({ page }) => {
  const folder = makeApp("vite");
  run(folder, bin("vite"), "build", "--base", "./", "--logLevel", "warn");
  const host = await serve(true, { "/a/models/": join(root, "web/models"), "/a/": join(folder, "dist") });
  await expectStory(page, `${host.origin}/a/`, "threads-relaxed");
  await host.close();
});

test("the module works when Vite puts all files of the engine into the worker", async ({ page }) => {
  const folder = makeApp("vite");
  run(folder, bin("vite"), "build", "--assetsInlineLimit", "10000000", "--logLevel", "warn");
  const host = await serve(true, { ...models, "/": join(folder, "dist") });
  await expectStory(page, host.origin, "threads-relaxed");
  await host.close();
});

test("the bundle works with esbuild without configuration", async ({ page }) => {
  const folder = makeApp("esbuild");
  const main = readFileSync(join(folder, "main.js"), "utf8");
  writeFileSync(
    join(folder, "main.js"),
    main.replace('"gpt2-wasm"', '"gpt2-wasm/bundle"').replace(/, { baseUrl: [^}]*}/, ""),
  );
  run(folder, bin("esbuild"), "main.js", "--bundle", "--format=esm", "--outdir=public");
  const host = await serve(true, { ...models, "/": join(folder, "public") });
  await expectStory(page, host.origin, "threads-relaxed");
  await host.close();
});

test("the classes of the elements can be imported without being defined, and exist once", async ({
  page,
}) => {
  const host = await serve(true, { "/": makeApp("import-map") });
  await page.goto(`${host.origin}/blank.html`);
  const found = await page.evaluate(async () => {
    const folder = "/node_modules/gpt2-wasm/build/package/";
    const classes = await import(`${folder}gpt2-element-classes.js`);
    const before = customElements.get("gpt2-writer");
    class StoryField extends classes.Gpt2Writer {}
    classes.define("story-field", StoryField);
    const field = document.body.appendChild(document.createElement("story-field"));
    const { Gpt2Writer } = await import(`${folder}gpt2-element.js`);
    const isDefined = customElements.get("gpt2-writer") === Gpt2Writer;
    return [before === undefined, field.shadowRoot !== null, isDefined, Gpt2Writer === classes.Gpt2Writer];
  });
  expect(found).toEqual([true, true, true, true]);
  await host.close();
});
