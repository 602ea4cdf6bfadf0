// Servers that most people have, and the settings that docs/how-to/hosts.md gives for them, used unchanged.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllHeaders, type Header } from "@netlify/headers-parser";
import { expect, test, type Page } from "@playwright/test";
import { getTransformedRoutes } from "@vercel/routing-utils";
import { addModels, expectStory, installApart, makeApp, startServer, type RunningServer } from "./app.js";
import { isolation } from "../browsers/static-host.js";
import { settingFor, startApache, startCaddy, startNginx, startPython } from "./servers.js";

function startApacheWithSetting(folder: string): Promise<RunningServer> {
  writeFileSync(join(folder, ".htaccess"), settingFor("Apache"));
  return startApache(folder, ["headers"]);
}

function startCloudflareWithSetting(folder: string): Promise<RunningServer> {
  writeFileSync(join(folder, "_headers"), settingFor("Netlify and Cloudflare Pages"));
  const program = join(installApart("wrangler", "wrangler@4.86.0"), "node_modules/.bin/wrangler");
  const port = ["--ip", "127.0.0.1", "--port", "{port}", "--compatibility-date=2026-05-01"];
  return startServer(folder, program, "pages", "dev", ".", ...port);
}

test("python3 -m http.server serves the module as it is", ({ page }) =>
  expectStoryFrom(startPython, page, "simd-relaxed"));

for (const [host, start] of [
  ["nginx", (folder: string) => startNginx(folder, settingFor("nginx"))],
  ["Caddy", (folder: string) => startCaddy(folder, settingFor("Caddy"))],
  ["Apache", startApacheWithSetting],
  ["Cloudflare Pages", startCloudflareWithSetting],
] as const) {
  const tag = host === "Cloudflare Pages" ? ["@weekly"] : []; // its program is installed first
  test(`${host} gives threads with the setting of docs/how-to/hosts.md`, { tag }, ({ page }) => {
    if (tag.length > 0) test.setTimeout(600_000);
    return expectStoryFrom(start, page, "threads-relaxed");
  });
}

async function expectStoryFrom(start: typeof startPython, page: Page, engine: string): Promise<void> {
  const folder = makeApp("import-map");
  addModels(folder);
  const server = await start(folder);
  await expectStory(page, server.origin, engine).finally(() => server.stop());
}

/** Documents, and files of the package. */
const paths = ["/", "/stories/index.html", "/gpt2/gpt2-worker.js"];

test("Netlify's parser accepts its setting in docs/how-to/hosts.md", async ({}, testInfo) => {
  const file = testInfo.outputPath("_headers");
  writeFileSync(file, settingFor("Netlify"));
  const found = await parseAllHeaders({ headersFiles: [file], configHeaders: undefined, minimal: false });
  expect(found.errors).toEqual([]);
  expect(found.headers.map(({ values }) => values)).toEqual([isolation]);
  const [rule] = found.headers as Header[]; // not minimal
  for (const path of paths) expect(path).toMatch(rule?.forRegExp ?? "no rule");
});

test("Vercel's parser accepts its setting in docs/how-to/hosts.md", () => {
  const { routes, error } = getTransformedRoutes(JSON.parse(settingFor("Vercel")));
  expect(error).toBeNull();
  const [rule] = routes as { src: string; headers: object }[];
  expect(rule?.headers).toEqual(isolation);
  for (const path of paths) expect(path).toMatch(new RegExp(rule?.src ?? "no rule"));
});
