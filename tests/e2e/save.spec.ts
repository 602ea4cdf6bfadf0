// "Save as one file", and the saved file.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
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

test.describe.configure({ timeout: 120_000 });

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
  await expect(page.locator("#save-status")).toContainText(/Saved: gpt2-demo.html, 1[89]/, {
    timeout: 30_000,
  });
  const file = testInfo.outputPath("gpt2-demo.html");
  await download.saveAs(file);
  expect(statSync(file).size).toBeGreaterThan(17_000_000);

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
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
    response.end(readFileSync(file));
  });
  await new Promise<void>((listening) => server.listen(0, "localhost", listening));
  try {
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
    await expectReady(page);
    await expect(page.locator("#engine")).toContainText("threads-relaxed");
  } finally {
    server.close();
    server.closeAllConnections();
  }
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
    await expect(page.locator("#save-status")).toContainText("Saved: ", { timeout: 30_000 });
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
  await expect(saved).toHaveTitle("GPT-2 in your browser");
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

test("if the host lacks a part of the page, the error names the part", async ({ page }) => {
  await open(page);
  await page.route("**/one-file.html", (route) => route.fulfill({ status: 404 }));
  await openSection(page, "saving-texts");
  await page.getByRole("button", { name: "Save as one file" }).click();
  await expect(page.locator("#save-status")).toHaveText(
    "It could not be saved: one-file.html is not beside this page: the host has only a part of it.",
  );
  await page.unroute("**/one-file.html");
  await page.route("**/model.safetensors.001", (route) => route.fulfill({ body: "short" }));
  await openSection(page, "saving-texts");
  await page.getByRole("button", { name: "Save as one file" }).click();
  await expect(page.locator("#save-status")).toContainText(
    "It could not be saved: model.safetensors.001 is 5 bytes, weights.json says 4194304",
    { timeout: 30_000 },
  );
});
