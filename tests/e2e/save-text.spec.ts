// The text saved as a file, with its branches: as text, Markdown, and a web page that opens from disk.
import { copyFileSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect, test, type Page } from "@playwright/test";
import { expectAccessible } from "./axe.js";
import { expectFinished, open, openSection, setCaret, setOption, setText, showView, textOf } from "./page.js";

/** Presses the button. Returns the path of the file, and its name. */
async function save(page: Page, format: string): Promise<{ path: string; name: string }> {
  const downloading = page.waitForEvent("download");
  await openSection(page, "saving-texts");
  await page.getByRole("button", { name: `Save as ${format}` }).click();
  const download = await downloading;
  return { path: await download.path(), name: download.suggestedFilename() };
}

test("a text with branches is saved in three formats, and the saved web page opens from disk", async ({
  page,
  browser,
}, testInfo) => {
  await open(page);
  const hostile = "Once upon a time <script>document.title = 'hostile'</script> there was a big";
  await setText(page, hostile);
  await setOption(page, "Tokens", "12");
  await showView(page, "Probability");
  await expect(page.locator("#scored")).toHaveText(/^\d+ tokens$/);
  await setCaret(page, hostile.length);
  const others = page.locator("#token .alternative[aria-pressed=false]");
  await others.first().click();
  await expectFinished(page);
  const branched = await textOf(page);
  await expect(page.locator("#branches")).toBeVisible();

  const text = await save(page, "Text");
  expect(text.name).toBe("once-upon-a-time-script-document.txt");
  expect(readFileSync(text.path, "utf8")).toBe(branched);
  await expect(page.locator("#text-saving-status")).toHaveText(`Saved: ${text.name}`);

  const markdown = readFileSync((await save(page, "Markdown")).path, "utf8");
  expect(markdown).toContain("Once upon a time \\<script\\>");
  expect(markdown).toContain("## Alternatives\n\n### First");

  const saved = await save(page, "Web page");
  expect(saved.name).toMatch(/\.html$/);
  const file = testInfo.outputPath(saved.name); // browsers recognize the type by this name
  copyFileSync(saved.path, file);
  const context = await browser.newContext({ bypassCSP: false });
  const other = await context.newPage();
  const asked: string[] = [];
  other.on("request", (request) => asked.push(request.url()));
  await other.goto(pathToFileURL(file).href);
  expect(asked).toHaveLength(1);
  await expect(other).toHaveTitle(/^once upon a time/);
  const shown = other.locator(".text").first();
  expect(await shown.textContent()).toBe(branched);
  expect(await shown.locator(".model").allTextContents()).not.toEqual([]);
  const colours = await shown.evaluate((element) => {
    const model = element.querySelector(".model");
    return [getComputedStyle(element).color, model && getComputedStyle(model).color];
  });
  expect(colours[0]).not.toBe(colours[1]);
  await other.locator("summary").click();
  await expect(other.locator("details .text")).toBeVisible();
  await context.close();

  const readable = await browser.newContext({ bypassCSP: true });
  const checked = await readable.newPage();
  await checked.goto(pathToFileURL(file).href);
  await checked.locator("summary").click();
  await expectAccessible(checked);
  await readable.close();
});
