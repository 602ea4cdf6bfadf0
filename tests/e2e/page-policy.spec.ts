// The page under its own Content-Security-Policy, and its messages about browser and host.
import { expect, test } from "@playwright/test";
import { openSection, writeOn } from "./page.js";

test.use({ bypassCSP: false });

test("the page writes under its own policy without a violation", async ({ page }) => {
  const offences: string[] = [];
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) offences.push(message.text());
  });
  await page.goto("./");
  await expect(page.locator("#engine")).toContainText("threads-relaxed", { timeout: 30_000 });
  await writeOn(page);
  await expect(page.locator("#speed")).toContainText("tokens/s");
  expect(offences).toEqual([]);
  const policy = page.locator('meta[http-equiv="Content-Security-Policy"]');
  await expect(policy).toHaveAttribute(
    "content",
    /script-src 'self' 'wasm-unsafe-eval' 'sha256-[^']+';.*connect-src 'self' https:\/\/huggingface\.co https:\/\/\*\.huggingface\.co https:\/\/\*\.hf\.co;/,
  );
  // The policy blocks other hosts.
  const reply = await page.evaluate(() => fetch("https://example.invalid/").then(String, String));
  expect(reply).toContain("TypeError");
  expect(offences.join()).toContain("connect-src");
});

test("the page shows what the browser and the host support, and what to add", async ({ page }) => {
  await page.goto("./?model=none");
  const list = page.locator("#environment-list li");
  await openSection(page, "device");
  await expect(list).toHaveCount(6);
  await expect(list.filter({ hasText: "Threads: yes." })).toBeVisible();
  // Imitates a host without the headers, and a browser that allows no service worker.
  await page.addInitScript(() => {
    Object.defineProperty(globalThis, "crossOriginIsolated", { value: false });
    sessionStorage.setItem("gpt2-wasm:isolation-tried", "1");
  });
  await page.reload();
  await openSection(page, "device");
  await expect(list.filter({ hasText: "Threads: no." }).locator("pre")).toHaveText(
    "Cross-Origin-Opener-Policy: same-origin\nCross-Origin-Embedder-Policy: credentialless",
  );
});
