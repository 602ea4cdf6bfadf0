// Light bundlers, and no bundler at all, with what npm packs, and the HTML of README.md exactly as it is printed.
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { isolation, serve } from "../browsers/static-host.js";
import { startDemoHub } from "../e2e/demo-hub.js";
import { readmeCode } from "../support/readme.js";
import { bin, expectStory, expectWriter, makeApp, root, run } from "./app.js";

const models = join(root, "web/models");

function builtByVite(...options: string[]): string {
  const folder = makeApp("vite");
  run(folder, bin("vite"), "build", "--logLevel", "warn", ...options);
  return join(folder, "dist");
}

function bundledByEsbuild(): string {
  const folder = makeApp("esbuild");
  const file = join(folder, "main.js");
  const main = readFileSync(file, "utf8").replace('"gpt2-wasm"', '"gpt2-wasm/bundle"');
  writeFileSync(file, main.replace(/, { baseUrl: [^}]*}/, ""));
  run(folder, bin("esbuild"), "main.js", "--bundle", "--format=esm", "--outdir=public");
  return join(folder, "public");
}

for (const [name, path, build] of [
  ["the module works with an import map, below a sub-path", "/some/where/", () => makeApp("import-map")],
  ["the module works if Vite builds it with another base", "/a/", () => builtByVite("--base", "./")],
  [
    "the module works if Vite puts all files of the engine into the worker",
    "/",
    () => builtByVite("--assetsInlineLimit", "10000000"),
  ],
  ["the bundle works with esbuild without configuration", "/", bundledByEsbuild],
] as const) {
  test(name, async ({ page }) => {
    const host = await serve({ [`${path}models/`]: models, [path]: build() }, isolation);
    await expectStory(page, `${host.origin}${path}`, "threads-relaxed");
    await host.close();
  });
}

const [moduleSnippet = "", elementsSnippet = "", ...others] = readmeCode("html");

/** A folder with `html` alone, beside a copy of `build/package` and the demo model in `models/gpt2-q8`. */
function folderOf(html: string): string {
  const folder = join(makeApp("element"), "node_modules/gpt2-wasm/build/package");
  cpSync(join(models, "demo"), join(folder, "models/gpt2-q8"), { recursive: true });
  writeFileSync(join(folder, "index.html"), html);
  return folder;
}

test("README.md's snippet for the module writes 64 tokens of a model from the Hub into the page", async ({
  page,
}) => {
  const hub = await startDemoHub(page, () => {});
  const host = await serve({ "/": folderOf(moduleSnippet) }, isolation);
  await page.goto(`${host.origin}/index.html`);
  await expect(page.locator("body")).toHaveText(/(\W+\w+){30}/);
  expect(hub.asked.some(({ path }) => path.includes("openai-community/gpt2"))).toBe(true);
  await host.close();
  hub.stop();
});

for (const [name, folder] of [
  ["README.md's snippet for the elements", () => folderOf(elementsSnippet)],
  ["examples/element", () => makeApp("element")],
] as const) {
  test(`${name} writes a story and suggests words in the text field`, async ({ page }) => {
    const host = await serve({ "/models/demo/": join(models, "demo"), "/": folder() }, isolation);
    await page.goto(`${host.origin}/index.html`);
    const writer = page.locator("gpt2-writer");
    await writer.getByRole("button").click();
    await expect(writer.getByRole("textbox")).toHaveValue(/^Once upon a time(\W+\w+){10}/);
    await page.locator("#letter").pressSequentially("Once upon a time, there was a little");
    await expect(page.locator("gpt2-autocomplete .ghost")).toHaveText(/\w/);
    await host.close();
  });
}

test("README.md contains no HTML except the tested snippets", () => {
  expect(others).toEqual([]);
});

test("the elements in one file work alone in a folder", async ({ page }) => {
  const folder = makeApp("element");
  const alone = join(folder, "alone");
  mkdirSync(alone);
  const bundle = join(folder, "node_modules/gpt2-wasm/build/package/gpt2-element.bundle.js");
  renameSync(bundle, join(alone, "elements.js"));
  writeFileSync(
    join(alone, "index.html"),
    `<!doctype html><title>One file</title><script type="module" src="elements.js"></script>
     <gpt2-writer model="models/demo/" prompt="Once upon a time" max-new-tokens="24" seed="1"></gpt2-writer>`,
  );
  const host = await serve({ "/models/": models, "/": alone }, isolation);
  const asked = new Set<string>();
  page.on("request", (request) => asked.add(request.url().replace(host.origin, "")));
  await expectWriter(page, `${host.origin}/index.html`);
  const unexpected = [...asked].filter((address) => !/^(blob:|data:|\/models\/|\/favicon)/.test(address));
  expect(unexpected.sort()).toEqual(["/elements.js", "/index.html"]);
  await host.close();
});

test("the classes of the elements can be imported without being defined, and exist once", async ({
  page,
}) => {
  const host = await serve({ "/": makeApp("import-map") }, isolation);
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
