// The examples whose bundlers are heavy: each installs its own into build/embed. Part of `npm run test:embed`.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { serve } from "../browsers/static-host.js";
import { addModels, expectStory, expectedText, isolated, makeApp, root, run, startServer } from "./app.js";

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
    run(folder, "npm", "run", script);
    const server = await startServer(folder, "npm", "run", "start", "--", "--port", "{port}");
    await expectStory(page, server.origin, "simd-relaxed");
    const host = await isolated(server.origin);
    await expectStory(page, host.origin, "threads-relaxed");
    host.stop();
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
