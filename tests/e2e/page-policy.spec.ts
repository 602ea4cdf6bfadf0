// The page under its own Content-Security-Policy.
import { expect, test } from "@playwright/test";
import { writeOn } from "./page.js";

test.use({ bypassCSP: false });

test("the page writes under its own policy without a violation", async ({ page }) => {
  const offences: string[] = [];
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) offences.push(message.text());
  });
  await page.goto("./");
  await expect(page.locator("#engine")).toContainText("threads-relaxed");
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
