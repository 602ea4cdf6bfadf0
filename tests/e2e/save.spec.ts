// "Save as one file", and the saved file.
import { readFileSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import { FaultyHost } from "./faulty-host.js";
import {
  expectReady,
  generate,
  killWorker,
  lookInside,
  open,
  openSection,
  setOption,
  setText,
  textOf,
} from "./page.js";

test.beforeEach(async ({ page }) => {
  // Tests cannot answer the browser's save dialog, so the page must not find one.
  await page.addInitScript(() => Reflect.deleteProperty(window, "showSaveFilePicker"));
});

test("the page saves itself as one file, which opens from disk and makes no request", async ({
  page,
  browser,
}, testInfo) => {
  await open(page);
  const downloading = page.waitForEvent("download");
  await openSection(page, "saving-texts");
  await page.getByRole("button", { name: "Save as one file" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("gpt2-demo.html");
  await expect(page.locator("#save-status")).toContainText(/Saved: gpt2-demo.html, 13 MB/);
  const file = testInfo.outputPath("gpt2-demo.html");
  await download.saveAs(file);
  expect(statSync(file).size).toBeGreaterThan(12_000_000);

  const context = await browser.newContext({ offline: true });
  const saved = await context.newPage();
  const asked: string[] = [];
  context.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url())) asked.push(request.url());
  });
  const problems: string[] = [];
  saved.on("pageerror", (error) => problems.push(error.message));
  await saved.goto(pathToFileURL(file).href);
  await expectReady(saved);
  const text = await generate(saved);
  expect(text.length).toBeGreaterThan(60);
  await lookInside(saved);
  expect(asked).toEqual([pathToFileURL(file).href]);
  expect(problems).toEqual([]);
  await expect(saved.locator("#chooser")).toBeHidden(); // there is no other model
  await openSection(saved, "library");
  await expect(saved.locator("#library-panel .text-name")).toHaveCount(1);
  await openSection(saved, "saving-texts");
  await expect(saved.getByRole("button", { name: "Save as one file" })).toBeHidden();

  // To load the model again, the page reads it from the file again.
  await killWorker(saved);
  await saved.getByRole("button", { name: "The old king…" }).click();
  const reloaded = saved.waitForEvent("load");
  await saved.getByRole("button", { name: "Load the model again" }).click();
  await reloaded;
  await expectReady(saved);
  await expect(saved.locator("#editor")).toContainText("The old king"); // the text is still there
  await context.close();

  // Served with the headers of isolation, it has threads.
  const host = new FaultyHost();
  host.answer(/^saved$/, (response) => {
    response.setHeader("Content-Type", "text/html").end(readFileSync(file));
  });
  await host.start();
  await page.goto(`${host.address}saved`);
  await expectReady(page);
  await expect(page.locator("#engine")).toContainText("threads-relaxed");
  await host.stop();
});

test("a file saved with the text opens with it and continues it", async ({ page, browser }, testInfo) => {
  await open(page);
  const given = "Es war einmal „ein Wald“ </script><script>document.title = 'hostile'</script> and 🍓";
  await setText(page, given);
  await setOption(page, "Tokens", "9");
  const written = await generate(page);
  const file = testInfo.outputPath("with-text.html");
  const saveTo = async (name: string) => {
    const downloading = page.waitForEvent("download");
    await openSection(page, "saving-texts");
    await page.getByRole("button", { name }).click();
    await (await downloading).saveAs(file);
    await expect(page.locator("#save-status")).toContainText("Saved: ");
  };
  await saveTo("Save with the text");
  const context = await browser.newContext({ offline: true });
  const saved = await context.newPage();
  await saved.goto(pathToFileURL(file).href);
  await expectReady(saved);
  expect(await textOf(saved)).toBe(written);
  const models = (await saved.locator("#editor .models").allTextContents()).join("");
  expect(models).toBe(written.slice(given.length).replaceAll("\n", "")); // each line is an element
  await expect(saved.getByLabel("Tokens", { exact: true })).toHaveValue("9");
  await expect(saved).toHaveTitle(/^Es war einmal „ein Wald“ .* – GPT-2$/);
  await expect(saved.locator("#undo")).toHaveAttribute("aria-disabled", "true"); // the file does not contain deleted text
  // Changes in the saved file are stored, and replace the text in the file.
  await setText(saved, "Another one.");
  await saved.reload();
  await expectReady(saved);
  expect(await textOf(saved)).toBe("Another one.");
  // A new file at the same address shows its own text.
  await setText(page, "The second.");
  await saveTo("Save with the text");
  await saved.reload();
  await expectReady(saved);
  expect(await textOf(saved)).toBe("The second.");
  await context.close();

  await saveTo("Save as one file");
  expect(readFileSync(file, "utf8")).not.toContain('data-file="text.json"');
});
