// A page in one file that is damaged, or that runs in a sandbox.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import { FaultyHost } from "./faulty-host.js";
import { root } from "./model.js";

// The file's own policy refuses a script that was changed.
test.use({ bypassCSP: false });

/** The page with the demo model in one file. */
let good = "";
test.beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-one-file-"));
  const file = join(folder, "good.html");
  execFileSync("node", ["web/scripts/export.mjs", "--model", "web/models/demo", "-o", file], { cwd: root });
  good = readFileSync(file, "utf8");
  rmSync(folder, { recursive: true });
});

/** `text` with a changed letter, `offset` after the last place where `part` begins. */
function changed(text: string, part: string, offset: number): string {
  const at = text.lastIndexOf(part) + offset;
  return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
}

const damages: Record<string, (text: string) => string> = {
  "that ends after a quarter": (text) => text.slice(0, text.length / 4),
  "that ends after three quarters": (text) => text.slice(0, (3 * text.length) / 4),
  "that ends in its script": (text) => text.slice(0, -20_000),
  "with a wrong letter in its script": (text) => changed(text, '<script type="module">', 5000),
  "with a wrong letter in its weights": (text) => changed(text, 'data-file="model.safetensors.000"', 200_000),
  "with a wrong letter in its config.json": (text) => changed(text, 'data-file="config.json"', 60),
};

for (const [name, damage] of Object.entries(damages)) {
  test(`a page in one file ${name} reports that it is damaged`, async ({ page }, testInfo) => {
    const file = testInfo.outputPath("damaged.html");
    writeFileSync(file, damage(good));
    await page.goto(pathToFileURL(file).href);
    await expect(page.getByText(/file is damaged/)).toBeVisible();
  });
}

test('the page writes in a frame with sandbox="allow-scripts"', async ({ page }) => {
  const host = new FaultyHost({ isIsolated: false });
  host.answer(/^(file|frame)$/, (response) => {
    const frame = '<iframe sandbox="allow-scripts" src="file"></iframe>';
    response.setHeader("Content-Type", "text/html");
    response.end(response.req.url === "/file" ? good : frame);
  });
  await host.start();
  try {
    await page.goto(`${host.address}frame`);
    const frame = page.frameLocator("iframe");
    await expect(frame.locator("#model")).toContainText("12 million");
    await frame.locator("#generate").click();
    await expect(frame.locator("#finish")).toContainText("Finished");
  } finally {
    await host.stop();
  }
});
