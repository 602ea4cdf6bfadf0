// The built folder below a sub-path, as on GitHub Pages, on the most common servers, without any
// configuration. After one visit, the server stops.
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { startApache, startNginx, startPython } from "../embed/servers.js";
import { root } from "./model.js";
import { expectReady, generate } from "./page.js";

const folder = mkdtempSync(join(tmpdir(), "gpt2-site-"));
symlinkSync(join(root, "web/dist"), join(folder, "project"));
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const [name, start] of [
  ["python3 -m http.server", startPython],
  ["nginx", startNginx],
  ["Apache", startApache],
] as const) {
  test(`${name} serves the folder in its default configuration`, async ({ browser }) => {
    const server = await start(folder);
    const context = await browser.newContext({ serviceWorkers: "allow" });
    try {
      const page = await context.newPage();
      await page.goto(`${server.origin}/project/`);
      await expectReady(page);
      await expect(page.locator("#engine")).toContainText("threads-relaxed");
      await expect(page.locator("#offline")).toBeVisible();
      server.stop();
      await expect(async () => expect(fetch(server.origin)).rejects.toThrow()).toPass();
      await page.reload();
      await expectReady(page);
      expect((await generate(page)).length).toBeGreaterThan(60);
    } finally {
      server.stop();
      await context.close();
    }
  });
}
