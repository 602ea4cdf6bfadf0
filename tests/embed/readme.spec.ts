// The HTML of README.md, exactly as it is printed, beside the files that npm packs.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { serve } from "../browsers/static-host.js";
import { startDemoHub } from "../e2e/demo-hub.js";
import { readmeCode } from "../support/readme.js";
import { root, run, tarball } from "./app.js";

const [moduleSnippet = "", elementsSnippet = "", ...others] = readmeCode("html");

/** A host whose page is `html` alone, with `build/package` copied beside it and the demo model in `models/gpt2-q8`. */
async function host(html: string) {
  const folder = join(root, "build/embed/readme");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run(folder, "tar", "-xzf", tarball, "--strip-components=3", "package/build/package");
  cpSync(join(root, "web/models/demo"), join(folder, "models/gpt2-q8"), { recursive: true });
  writeFileSync(join(folder, "index.html"), html);
  return serve(true, { "/": folder });
}

test("the snippet for the module writes 64 tokens of a model from the Hub into the page", async ({
  page,
}) => {
  const hub = await startDemoHub(page, () => {});
  const served = await host(moduleSnippet);
  await page.goto(`${served.origin}/index.html`);
  await expect(page.locator("body")).toHaveText(/(\W+\w+){30}/, { timeout: 45_000 });
  expect(hub.asked.some(({ path }) => path.includes("openai-community/gpt2"))).toBe(true);
  await served.close();
  hub.stop();
});

test("the snippet for the elements writes a story and suggests words in the text field", async ({ page }) => {
  const served = await host(elementsSnippet);
  await page.goto(`${served.origin}/index.html`);
  const writer = page.locator("gpt2-writer");
  await writer.getByRole("button").click();
  await expect(writer.locator("textarea")).toHaveValue(/^Once upon a time(\W+\w+){10}/, { timeout: 45_000 });
  await page.locator("#letter").pressSequentially("Once upon a time, there was a little");
  await expect(page.locator("gpt2-autocomplete .ghost")).toHaveText(/\w/, { timeout: 45_000 });
  await served.close();
});

test("README.md contains no HTML except the tested snippets", () => {
  expect(others).toEqual([]);
});
