// Examples that install frameworks, editors, runtimes and clients first, into build/embed. Part of `npm run test:embed`.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { isolation, serve, type StaticHost } from "../browsers/static-host.js";
import { native } from "../e2e/model.js";
import {
  addModels,
  expectStory,
  expectedText,
  installApart,
  jsonLines,
  makeApp,
  root,
  run,
  startServer,
} from "./app.js";

test.describe.configure({ timeout: 600_000 });

const models = { "/models/": join(root, "web/models") };
const demo = join(root, "web/models/demo");

test("in React's StrictMode the element works after mounting twice, unmounting and mounting again", async ({
  page,
}) => {
  const folder = makeApp("react", true);
  run(folder, "npm", "run", "build");
  const host = await serve({ ...models, "/": join(folder, "dist") }, isolation);
  await expectStory(page, host.origin, "threads-relaxed");
  await host.close();
  // Effects run twice in development only.
  addModels(join(folder, "public"));
  const server = await startServer(folder, "npm", "run", "dev", "--", "--port={port}", "--host=localhost");
  await expectStory(page, server.origin, "simd-relaxed");
  await page.getByText("Unmount").click();
  await expect.poll(() => page.workers().length).toBe(0); // nothing is left behind
  await page.getByText("Mount").click();
  await expect(page.locator("output")).toHaveText(expectedText());
  server.stop();
});

test("Deno runs what Node.js runs", () => {
  const deno = join(installApart("deno", "deno@2.9.6"), "node_modules/.bin/deno");
  const options = ["--allow-all", "--node-modules-dir=manual"];
  expect(run(makeApp("node"), deno, "run", ...options, "main.js", demo)).toBe(expectedText());
});

test("OpenAI's client, the AI SDK and LangChain write what the command line writes", () => {
  const greedy = ["--temperature", "0", "--repetition-penalty", "1", "--max-new-tokens", "24", "--json"];
  const write = (prompt: string) =>
    (native("generate", demo, "--prompt", prompt, ...greedy) as { text: string }).text;
  const said = run(makeApp("openai-clients", true), process.execPath, "main.js", demo);
  const story = write("Once upon a time");
  const chat = write("user:\nOnce upon a time\n\nassistant:\n");
  expect(jsonLines(said)).toEqual([story, chat, story]);
});

test("the elements have types for React, Preact, Solid, Svelte and Vue, which reject a wrong attribute", () => {
  const folder = makeApp("typed-elements", true);
  run(folder, "npm", "run", "check");
  const files = ["react.tsx", "preact.tsx", "solid.tsx", "Story.svelte", "Story.vue"];
  for (const name of files) {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, "utf8").replace('rows="6"', 'rows="many"'));
  }
  const check = (program: string, ...args: string[]) =>
    spawnSync(join(folder, "node_modules/.bin", program), args, { cwd: folder, encoding: "utf8" }).stdout;
  const said = check("vue-tsc"); // reads .tsx, too
  const svelte = check("svelte-check", "--tsconfig", "tsconfig.json", "--output", "machine");
  for (const name of files)
    expect(name.endsWith(".svelte") ? svelte : said).toMatch(new RegExp(`${name}.*many`));
});

test("the elements mount in jsdom and happy-dom under Jest and Vitest without effect", () => {
  const folder = makeApp("unit-tests", true);
  for (const script of ["jest", "vitest", "vitest:happy-dom"]) run(folder, "npm", "run", script); // exits with 1 if a test fails
});

test.describe("editors that are not text controls, through the adapters of examples/editors", () => {
  let host: StaticHost;
  test.beforeAll(async () => {
    const folder = makeApp("editors", true);
    run(folder, "npm", "run", "build");
    host = await serve({ ...models, "/": join(folder, "dist") });
  });
  test.afterAll(() => host.close());

  for (const [place, selector] of ["#contenteditable", ".cm-content", ".ProseMirror"].entries()) {
    test(`suggestions in ${selector} are drawn at the caret, taken by Tab, and undone separately`, async ({
      page,
    }) => {
      page.setDefaultTimeout(60_000);
      await page.goto(host.origin);
      const editor = page.locator(selector);
      const element = page.locator("gpt2-autocomplete").nth(place);
      const textBefore = () =>
        element.evaluate(({ field }: Element & { field?: { textBefore(): string | undefined } }) =>
          field?.textBefore(),
        );
      const typed = "One day, a little girl named";
      await editor.click();
      await page.keyboard.type(typed);
      const ghost = element.locator(".ghost");
      await expect(ghost).toHaveText(/\w/);
      const suggested = (await ghost.textContent()) ?? "";
      const [caret, box] = await Promise.all([
        page.evaluate(() => getSelection()?.getRangeAt(0).getBoundingClientRect().toJSON() as DOMRect),
        ghost.boundingBox(),
      ]);
      expect(Math.abs((box?.y ?? 0) - caret.y)).toBeLessThan(4);
      await page.keyboard.press("Tab");
      await expect(editor).toContainText(typed + suggested);
      await expect(editor).toBeFocused();
      await page.keyboard.press("Control+z");
      await expect(editor).not.toContainText(suggested.trim());
      await expect(editor).toContainText(typed);
      expect(await textBefore()).toContain(typed);
      // Text after the caret ends the suggestions.
      await page.keyboard.press("Home");
      await page.keyboard.type("x");
      expect(await textBefore()).toBeUndefined();
      await expect(ghost).toHaveText("");
    });
  }
});
