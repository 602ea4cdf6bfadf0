// The panel of engine and device: what runs here, and how fast it could be.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { hashedCode } from "../../web/scripts/hash-files.mjs";
import { expectAccessible } from "./axe.js";
import { root } from "./model.js";
import { expectReady, generate, open, openSection, prepareLongText } from "./page.js";

const row = (page: Page, name: string) =>
  page
    .locator("#device-panel dl > div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("dd");

async function openPanel(page: Page): Promise<void> {
  await openSection(page, "device");
  await expect(row(page, "Storage")).not.toHaveText("–");
}

test("the panel shows what runs here, and compares it with the memory's limit", async ({ page }) => {
  await open(page);
  await test.step("its script is fetched only when it is opened, and again if that failed", async () => {
    await page.route("**/assets/panel-*.js", (route) => route.abort());
    await openSection(page, "device");
    await expect(page.locator("#device-panel")).toContainText("This part of the page could not be loaded");
    await page.unroute("**/assets/panel-*.js");
    await page.locator("#device summary").first().click();
    await openPanel(page);
  });
  await expect(row(page, "Engine")).toHaveText(/^threads\S*, release \d+\.\d+\.\d+-[0-9a-f]{8}$/);
  await expect(row(page, "Threads")).toHaveText(/^\d+ of \d+ cores: /);
  await expect(row(page, "Memory")).toHaveText(/^\d+ MB: 8.7 MB of weights, /);
  await expect(row(page, "Network")).toHaveText(
    /^None: nothing that you write leaves this device\. 8\.2 MB came from localhost:\d+ for this model\.$/,
  );
  await generate(page);
  await expect(row(page, "Speed")).toHaveText(/^[\d.]+ tokens\/s$/);
  await page.getByRole("button", { name: "Measure speed" }).click();
  await expect(row(page, "Speed")).toHaveText(
    /^[\d.,]+ tokens\/s: \d+% of what this device's memory allows, [\d.,]+ tokens\/s\.$/,
  );
  await expect(page.getByRole("button", { name: "Measure speed" })).toHaveAttribute("aria-disabled", "false");
  await expectAccessible(page);
  expect(page.workers().filter((worker) => worker.url().startsWith("blob:"))).toEqual([]); // all threads of the measurement have ended
});

const report = (page: Page) => page.locator("#self-test-report");

/** Runs the self-test, and returns its final message. */
async function testBrowser(page: Page): Promise<string> {
  await openPanel(page);
  await page.getByRole("button", { name: "Test this browser" }).click();
  const verdict = page.locator(".self-test [role=status]");
  await expect(verdict).toContainText(/Passed|Failed|could not/);
  return (await verdict.textContent()) ?? "";
}

test("each build of the engine computes the same in this browser as natively", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  expect(await testBrowser(page)).toContain("Passed: all 20 checks.");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Copy report" }).click();
  await expect(page.getByText("Copied.", { exact: true })).toBeVisible();
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).split("\n");
  expect(lines[0]).toMatch(/^gpt2-wasm \d\S+: 20 of 20 checks passed$/);
  expect(lines[1]).toMatch(/Chrome\/.*; \d+ cores$/);
  for (const variant of ["threads-relaxed", "threads", "simd-relaxed", "simd"])
    expect(lines.filter((line) => line.startsWith(`passed  ${variant}, `))).toHaveLength(5);
});

test("writing interrupts a measurement and the self-test, and none can start meanwhile", async ({ page }) => {
  await page.goto("./?threads=1");
  await expectReady(page);
  await openPanel(page);
  await expect(row(page, "Threads")).toHaveText(/^1 of \d+ cores, as set in the address of this page\.$/);
  await prepareLongText(page);
  for (const [name, running, interrupted] of [
    ["Measure speed", "Measuring, a few seconds…", "The measurement was interrupted."],
    ["Test this browser", "checks passed", "The test was interrupted."],
  ] as const) {
    const button = page.getByRole("button", { name });
    await button.click();
    await expect(page.locator("#device-panel")).toContainText(running);
    await page.keyboard.press("Control+Enter");
    await expect(page.getByText(interrupted)).toBeVisible();
    await expect(button).toHaveAttribute("aria-disabled", "true");
    await page.keyboard.press("Escape");
    await expect(button).toHaveAttribute("aria-disabled", "false");
  }
  await expect(report(page)).toBeHidden(); // no partial report
  await expect(page.getByRole("button", { name: "Copy report" })).toBeHidden();
});

test("the self-test fails if a build of the engine computes something else in this browser", async ({
  page,
}) => {
  // Imitates a browser with one faulty instruction: i32x4.mul instead of i32x4.dot_i16x8_s.
  const code = readFileSync(resolve(root, "build/wasm/engine/gpt2-simd.wasm"));
  const wrong = Buffer.from(code.toString("latin1").replaceAll("\xfd\xba\x01", "\xfd\xb5\x01"), "latin1");
  expect(wrong.equals(code)).toBe(false);
  await page.route("**/engine/gpt2-simd.wasm*", (route) =>
    route.fulfill({ body: hashedCode(wrong), contentType: "application/wasm" }),
  );
  await open(page);
  expect(await testBrowser(page)).toContain("Failed: ");
  const lines = ((await report(page).textContent()) ?? "").split("\n");
  const failed = lines.filter((line) => line.startsWith("FAILED"));
  expect(failed.every((line) => line.startsWith("FAILED  simd, "))).toBe(true);
  expect(failed.join()).toContain("simd, arithmetic in 8 bits: expected ");
  await expect(page.locator(".self-test")).toContainText("most likely a bug of the browser");
  await expect(page.getByRole("link", { name: "bug tracker of Chromium" })).toBeVisible();
  await expectAccessible(page);
});
