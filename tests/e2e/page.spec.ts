import { expect, test } from "@playwright/test";

test("writes a text, token by token", async ({ page }) => {
  await page.goto("./");
  const generate = page.getByRole("button", { name: "Generate" });
  await expect(generate).toBeEnabled({ timeout: 30_000 });
  await generate.click();
  await expect(page.locator("#finish")).toContainText("Reached the number", { timeout: 30_000 });
  console.log(await page.locator("#output").textContent(), await page.locator("footer").textContent());
  await page.screenshot({ path: "/tmp/desk.png", fullPage: true });
});
