// Links to a text: the very same again, checked by its hash.
import { deflateRawSync } from "node:zlib";
import { expect, test } from "@playwright/test";
import { generate, open, setOption, setText, startLongText, textOf } from "./page.js";

const fragment = (passage: unknown) =>
  `#text=${deflateRawSync(JSON.stringify(passage)).toString("base64url")}`;

test("whoever opens a link to a text gets the very same, and is told so", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  await expect(page.getByRole("button", { name: "Copy link" })).toHaveAttribute("aria-disabled", "true");
  await setText(page, "Tom said “hello”, and 🍓 ");
  await setOption(page, "Temperature", "1.1");
  await startLongText(page); // with a seed of its own
  await expect.poll(async () => (await textOf(page)).length, { timeout: 20_000 }).toBeGreaterThan(200);
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator("#finish")).toContainText("Stopped after");
  const text = await textOf(page);
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.locator("#share-status")).toContainText("Copied: a link of");
  const link = await page.evaluate(() => navigator.clipboard.readText());

  const other = await context.newPage();
  await other.goto(link);
  await expect(other.locator("#finish")).toHaveText(
    /^Identical to the linked text: \d+ tokens, checked by hash\.$/,
    { timeout: 40_000 },
  );
  expect(await textOf(other)).toBe(text);
});

test("a link whose text comes out otherwise says so, and one that is none, too", async ({ page }) => {
  const options = { maxNewTokens: 5, seed: 1, temperature: "high" };
  await page.goto(`./${fragment({ prompt: "Once upon", options, hash: "0".repeat(64) })}`);
  await expect(page.locator("#finish")).toContainText("This is not the linked text", { timeout: 40_000 });
  expect(await textOf(page)).toMatch(/^Once upon.+/s);
  await page.goto("about:blank");
  await page.goto("./#text=nothing");
  await expect(page.locator("#finish")).toContainText("The link of this page cannot be read", {
    timeout: 40_000,
  });
  expect(await textOf(page)).toBe("Once upon a time");
});

test("a link gives way to who writes meanwhile, and is followed in a page that is open", async ({ page }) => {
  const options = { maxNewTokens: 4096, seed: 1, ignoreEos: true };
  const link = fragment({ prompt: "The sea was", options, hash: "0".repeat(64) });
  const finish = page.locator("#finish");
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/models/demo/*.safetensors*", async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`./${link}`);
  await expect(finish).toContainText("written anew once the model is loaded", { timeout: 30_000 });
  await setText(page, "My own words");
  release();
  await expect(finish).toContainText("The link is not followed", { timeout: 40_000 });
  expect(await textOf(page)).toBe("My own words");

  await page.evaluate(() => (location.hash = ""));
  await page.evaluate((hash) => (location.hash = hash), link);
  await expect.poll(() => textOf(page), { timeout: 30_000 }).toMatch(/^The sea was.+/s);
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(finish).toContainText("Stopped after");
  await page.evaluate(() => new Promise((drawn) => setTimeout(drawn, 300)));
  await expect(finish).toContainText("Stopped after"); // and nothing of another model
});

test("without a clipboard the link is in the address, and where none can be made, that is said", async ({
  page,
}) => {
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await open(page);
  await setOption(page, "Tokens", "5");
  await generate(page);
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.locator("#share-status")).toContainText("The link is in its address now");
  const url = new URL(page.url());
  expect(url.search).toBe("?model=models/demo/");
  expect(url.hash).toMatch(/^#text=[\w-]+$/);
  await expect(page.locator("#finish")).toContainText("Seed"); // it is not followed

  await page.evaluate(() => Object.defineProperty(window, "CompressionStream", { value: undefined }));
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.locator("#share-status")).toContainText("No link could be made: ");
});
