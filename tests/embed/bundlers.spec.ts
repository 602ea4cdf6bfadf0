// A framework that mounts twice, a runtime and a host, each installed into build/embed. Part of `npm run test:embed`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { serve } from "../browsers/static-host.js";
import {
  addModels,
  expectStory,
  expectedText,
  installApart,
  makeApp,
  root,
  run,
  startServer,
} from "./app.js";
import { settingFor } from "./servers.js";

test.describe.configure({ timeout: 600_000 }); // they are installed first

test("in React's StrictMode the element works after mounting twice, unmounting and mounting again", async ({
  page,
}) => {
  const folder = makeApp("react", true);
  run(folder, "npm", "run", "build");
  const host = await serve(true, { "/models/": join(root, "web/models"), "/": join(folder, "dist") });
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

test("Deno runs what Node.js runs", () => {
  const folder = makeApp("node");
  const deno = join(installApart("deno", "deno@2.9.6"), "node_modules/.bin/deno");
  const options = ["--allow-all", "--node-modules-dir=manual"];
  expect(run(folder, deno, "run", ...options, "main.js", join(root, "web/models/demo"))).toBe(expectedText());
});

test("Cloudflare Pages gives threads with the setting of docs/how-to/hosts.md", async ({ page }) => {
  const folder = makeApp("import-map");
  addModels(folder);
  writeFileSync(join(folder, "_headers"), settingFor("Netlify and Cloudflare Pages"));
  const wrangler = installApart("wrangler", "wrangler@4.86.0");
  const program = join(wrangler, "node_modules/.bin/wrangler");
  const port = ["--ip", "127.0.0.1", "--port", "{port}", "--compatibility-date=2026-05-01"];
  const server = await startServer(folder, program, "pages", "dev", ".", ...port);
  await expectStory(page, server.origin, "threads-relaxed");
  server.stop();
});
