// The examples whose bundlers are heavy, and a host that is: each is installed into build/embed. Part of `npm run test:embed`.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { serve } from "../browsers/static-host.js";
import { addModels, expectStory, expectedText, makeApp, root, run, startServer } from "./app.js";
import { settingFor } from "./servers.js";

test.describe.configure({ timeout: 600_000 }); // they are installed first

const models = { "/models/": join(root, "web/models") };

test("webpack, built and in development", async ({ page }) => {
  const folder = makeApp("webpack", true);
  run(folder, "npm", "run", "build");
  copyFileSync(join(folder, "public/index.html"), join(folder, "dist/index.html"));
  const host = await serve(true, { ...models, "/": join(folder, "dist") });
  await expectStory(page, host.origin, "threads-relaxed");
  await host.close();
  addModels(join(folder, "public"));
  const server = await startServer(folder, "npm", "run", "dev", "--", "--port={port}", "--host=localhost");
  await expectStory(page, server.origin, "simd-relaxed");
  server.stop();
});

test("React in StrictMode: mounted twice, unmounted and mounted again", async ({ page }) => {
  const folder = makeApp("react", true);
  run(folder, "npm", "run", "build");
  const host = await serve(true, { ...models, "/": join(folder, "dist") });
  await expectStory(page, host.origin, "threads-relaxed");
  await host.close();
  // Effects run twice in development only.
  addModels(join(folder, "public"));
  const server = await startServer(folder, "npm", "run", "dev", "--", "--port={port}", "--host=localhost");
  await expectStory(page, server.origin, "simd-relaxed");
  await page.getByText("Unmount").click();
  await expect.poll(() => page.workers().length).toBe(0); // nothing is left behind
  await page.getByText("Mount").click();
  await expect(page.locator("output")).toHaveText(expectedText(), { timeout: 45_000 });
  server.stop();
});

for (const [bundler, script] of [
  ["Turbopack", "build"],
  ["webpack", "build:webpack"],
] as const) {
  test(`Next.js with ${bundler}`, async ({ page }) => {
    const folder = makeApp("next", true);
    addModels(join(folder, "public"));
    writeFileSync(join(folder, "next.config.mjs"), settingFor("Next\\.js"));
    run(folder, "npm", "run", script);
    const server = await startServer(folder, "npm", "run", "start", "--", "--port", "{port}");
    await expectStory(page, server.origin, "threads-relaxed");
    server.stop();
  });
}

test("Next.js in development", async ({ page }) => {
  const folder = makeApp("next", true);
  addModels(join(folder, "public"));
  const server = await startServer(folder, "npm", "run", "dev", "--", "--port", "{port}");
  await expectStory(page, server.origin, "simd-relaxed");
  server.stop();
});

test("Cloudflare Pages, with the setting of docs/embedding.md", async ({ page }) => {
  const folder = makeApp("import-map");
  addModels(folder);
  writeFileSync(join(folder, "_headers"), settingFor("Netlify and Cloudflare Pages"));
  const wrangler = join(root, "build/embed/wrangler");
  mkdirSync(wrangler, { recursive: true });
  writeFileSync(
    join(wrangler, "package.json"),
    `{ "private": true, "dependencies": { "wrangler": "4.86.0" } }`,
  );
  run(wrangler, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund");
  const program = join(wrangler, "node_modules/.bin/wrangler");
  const port = ["--ip", "127.0.0.1", "--port", "{port}", "--compatibility-date=2026-05-01"];
  const server = await startServer(folder, program, "pages", "dev", ".", ...port);
  await expectStory(page, server.origin, "threads-relaxed");
  server.stop();
});
