// Errors on the page: each has a sentence and a way to continue.
import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import {
  expectFinished,
  expectReady,
  generate,
  hold,
  killWorker,
  open,
  press,
  setOption,
  textOf,
  writeOn,
} from "./page.js";

const dist = resolve(import.meta.dirname, "../../web/dist");

test("an invalid value opens the panel, gets the focus and is explained, however writing was started", async ({
  page,
}) => {
  await page.goto("./?model=none");
  await setOption(page, "Tokens", "5000");
  const text = await textOf(page);
  const field = page.getByLabel("Tokens", { exact: true });
  const ways: Record<string, () => Promise<void>> = {
    "the button": () => writeOn(page),
    "Ctrl + Enter": () => page.getByRole("textbox", { name: "Text" }).press("Control+Enter"),
    "an opening": () => page.getByRole("button", { name: "The old king…" }).click(),
    Continue: () => press(page, "continue"),
  };
  for (const [name, ask] of Object.entries(ways)) {
    await page.locator("#options").evaluate((details: HTMLDetailsElement) => (details.open = false));
    await ask();
    await expect(field, name).toBeFocused();
    await expect(field, name).toHaveAttribute("aria-invalid", "true");
    await expect(field, name).toHaveAccessibleDescription(
      /^Expected a whole number from 1 to 4096, found 5000\./,
    );
    await expect(page.getByText("found 5000"), name).toBeVisible();
    expect(await textOf(page), name).toBe(text);
  }
  await field.fill("4");
  await expect(page.getByText("Expected a whole number")).toBeHidden();
  await expect(field).toHaveAttribute("aria-invalid", "false");
  await setOption(page, "Seed", "");
  await page.getByLabel("Seed", { exact: true }).pressSequentially("1e"); // no number
  await writeOn(page);
  await expect(page.getByText("Expected a whole number from 0 to 9007199254740991.")).toBeVisible();
});

test("a value between two steps of a slider is accepted", async ({ page }) => {
  await open(page);
  for (const [label, value] of [
    ["Temperature", "0.333"],
    ["Top p", "0.9999"],
    ["Min p", "0.0001"],
    ["Repetition penalty", "1.005"],
    ["Tokens", "5"],
  ] as const)
    await setOption(page, label, value);
  await page.getByLabel("Tokens", { exact: true }).press("Enter"); // submits the form
  await expectFinished(page);
  await expect(page.getByLabel("Temperature", { exact: true })).toHaveAttribute("aria-invalid", "false");
});

test("Generate loads a dead worker's model again, and the text stays until the new run starts", async ({
  page,
}) => {
  await open(page);
  await setOption(page, "Tokens", "5");
  const text = await generate(page);
  await killWorker(page);
  await writeOn(page);
  await expect(page.getByRole("alert")).toContainText("The model has stopped working");
  expect(await textOf(page)).toBe(text);

  let isBroken = true;
  await page.route("**/models/demo/config.json", (route) =>
    isBroken ? route.fulfill({ status: 503 }) : route.continue(),
  );
  await writeOn(page);
  await expect(page.getByRole("alert")).toContainText("503"); // after four attempts
  expect(await textOf(page)).toBe(text);
  await expect(page.locator("#generate")).toBeEnabled();
  isBroken = false;
  await setOption(page, "Tokens", "30");
  expect((await generate(page)).length).toBeGreaterThan(text.length);
  await expect(page.getByRole("alert")).toBeHidden();
});

test("Escape during a load cancels Generate, and the load continues; a stalled connection is reported", async ({
  page,
}) => {
  await page.clock.install();
  const arrive = await hold(page, "**/model.safetensors.001");
  await page.goto("./");
  await expect(page.locator("#loading-bytes")).toContainText("4.2 MB of"); // the other piece
  await writeOn(page);
  await expect(page.locator("#finish")).toContainText("as soon as the model is loaded");
  await page.keyboard.press("Escape");
  await expect(page.locator("#finish")).toContainText("Stopped, 0 tokens.");
  await page.clock.fastForward(16_000);
  await expect(page.locator("#loading")).toContainText("Nothing has arrived for a while");
  arrive();
  await expectReady(page);
  expect(await textOf(page)).toBe("Once upon a time");
});

for (const [query, sentence] of [
  [
    "?variant=nonsense",
    /In the address of this page \(\?variant=nonsense\), variant is "?nonsense"?, expected one of "?threads-relaxed/,
  ],
  ["?model=nowhere", /nowhere\/config.json.*404/],
] as const) {
  test(`${query} is explained, and the page opens without it`, async ({ page }) => {
    await page.goto(`./${query}`);
    await expect(page.getByRole("alert")).toContainText(sentence);
    await page.getByRole("link", { name: "Open the page without these settings" }).click();
    await expectReady(page);
    expect(new URL(page.url()).search).toBe("");
  });
}

test.describe("if the page's scripts do not run, it explains why", () => {
  const starting = "If this does not go away, the page's scripts could not run";

  test("the page explains itself without a network", async ({ page }) => {
    await page.route("**/gpt2.js*", (route) => route.abort());
    await page.goto("./");
    await expect(page.getByText(starting)).toBeVisible();
    await expect(page.getByRole("link", { name: "Load the page again" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Cancel" })).toBeHidden();
    await expect(page.locator("#generate")).toBeDisabled();
    await page.unroute("**/gpt2.js*");
    await page.getByRole("link", { name: "Load the page again" }).click();
    await expectReady(page);
    await expect(page.getByText(starting)).toBeHidden();
  });

  test("the page explains itself with JavaScript switched off", async ({ browser }) => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto("./");
    await expect(page.getByText("JavaScript switched off, or an old browser?")).toBeVisible();
    // Chromium's test setting comes too late for its parser, which keeps <noscript> as text.
    expect(await (await page.request.get("./")).text()).toMatch(
      /<noscript[^]*JavaScript is switched off here[^]*<\/noscript/,
    );
    await context.close();
  });

  test("the page opened as a file explains what to do", async ({ page }) => {
    await page.goto(pathToFileURL(resolve(dist, "index.html")).href);
    await expect(page.getByText("A browser runs them only from a web server.")).toBeVisible();
    await expect(page.getByText("http://localhost:8000")).toBeVisible();
    // Its style comes from the file beside it.
    expect(await page.locator("#starting").evaluate((part) => getComputedStyle(part).borderRadius)).toBe(
      "12px",
    );
  });

  test("the explanation needs no inline script", () => {
    expect(readdirSync(dist)).toContain("index.html");
    const html = readFileSync(resolve(dist, "index.html"), "utf8");
    const chooser = /<script>\(function chooseLanguage.*?<\/script>/s; // without it all is said in English
    expect(html.replace(chooser, "")).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=/);
  });
});
