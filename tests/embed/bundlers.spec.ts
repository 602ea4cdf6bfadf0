// The examples whose bundlers are heavy, and a host that is: each is installed into build/embed. Part of `npm run test:embed`.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { serve } from "../browsers/static-host.js";
import { addModels, expectStory, expectedText, makeApp, root, run, startServer } from "./app.js";
import { settingFor } from "./servers.js";

test.describe.configure({ timeout: 600_000 }); // they are installed first

const models = { "/models/": join(root, "web/models") };

/** Serves `built` on an isolated host, and waits until the app there has written. */
async function expectBuiltStory(page: Page, built: string): Promise<void> {
  const host = await serve(true, { ...models, "/": built });
  await expectStory(page, host.origin, "threads-relaxed");
  await host.close();
}

test("webpack, built and in development", async ({ page }) => {
  const folder = makeApp("webpack", true);
  run(folder, "npm", "run", "build");
  copyFileSync(join(folder, "public/index.html"), join(folder, "dist/index.html"));
  await expectBuiltStory(page, join(folder, "dist"));
  addModels(join(folder, "public"));
  const server = await startServer(folder, "npm", "run", "dev", "--", "--port={port}", "--host=localhost");
  await expectStory(page, server.origin, "simd-relaxed");
  server.stop();
});

// Vite 8 is in quick.spec.ts.
for (const version of ["5.4.21", "6.4.6", "7.3.8"]) {
  test(`Vite ${version}, unconfigured, built and in development`, async ({ page }) => {
    const folder = makeApp("vite", true, { vite: version });
    run(folder, "npm", "run", "build");
    await expectBuiltStory(page, join(folder, "dist"));
    addModels(join(folder, "public"));
    const server = await startServer(folder, "npm", "run", "dev", "--", "--port={port}", "--host=localhost");
    await expectStory(page, server.origin, "simd-relaxed");
    server.stop();
  });
}

test("Rollup with its usual plugin, unconfigured", async ({ page }) => {
  const folder = makeApp("rollup", true);
  run(folder, "npm", "run", "build");
  await expectBuiltStory(page, folder);
});

for (const [tool, name] of [
  ["Parcel", "parcel"],
  ["Angular", "angular"],
] as const) {
  test(`${tool}, unconfigured`, async ({ page }) => {
    const folder = makeApp(name, true);
    run(folder, "npm", "run", "build");
    await expectBuiltStory(page, join(folder, "dist"));
  });
}

test("React in StrictMode: mounted twice, unmounted and mounted again", async ({ page }) => {
  const folder = makeApp("react", true);
  run(folder, "npm", "run", "build");
  await expectBuiltStory(page, join(folder, "dist"));
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

test("Deno runs what Node.js runs", () => {
  const folder = makeApp("node");
  run(folder, "npm", "pkg", "delete", "dependencies.gpt2-wasm");
  run(folder, "npm", "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "deno@2.9.6");
  makeApp("node"); // npm removes what it does not know
  const deno = join(folder, "node_modules/.bin/deno");
  const options = ["--allow-all", "--node-modules-dir=manual"];
  expect(run(folder, deno, "run", ...options, "main.js", join(root, "web/models/demo"))).toBe(expectedText());
});

test("Cloudflare Pages, with the setting of docs/how-to/hosts.md", async ({ page }) => {
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
