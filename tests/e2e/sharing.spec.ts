// Links to a text: the very same again, checked by its hash.
import { deflateRawSync } from "node:zlib";
import { expect, test } from "@playwright/test";
import { open, setOption, setText, startLongText, textOf } from "./page.js";

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
