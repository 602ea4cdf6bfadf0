// Servers that most people have, and the settings that docs/how-to/hosts.md gives for them, used unchanged.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllHeaders, type Header } from "@netlify/headers-parser";
import { expect, test } from "@playwright/test";
import { getTransformedRoutes } from "@vercel/routing-utils";
import { addModels, expectStory, makeApp, type RunningServer } from "./app.js";
import { isolation } from "./host.js";
import { settingFor, startApache, startCaddy, startNginx, startPython } from "./servers.js";

function startApacheWithSetting(folder: string): Promise<RunningServer> {
  writeFileSync(join(folder, ".htaccess"), settingFor("Apache"));
  return startApache(folder, ["headers"]);
}

const alone = "simd-relaxed"; // in one thread
const withThreads = "threads-relaxed";
for (const [name, start, engine] of [
  ["python3 -m http.server serves the module as it is", startPython, alone],
  ["nginx serves the module with the types that Debian gives it", startNginx, alone],
  [
    "nginx gives threads with the setting of docs/how-to/hosts.md",
    (folder: string) => startNginx(folder, settingFor("nginx")),
    withThreads,
  ],
  [
    "Caddy gives threads with the setting of docs/how-to/hosts.md",
    (folder: string) => startCaddy(folder, settingFor("Caddy")),
    withThreads,
  ],
  ["Apache gives threads with the setting of docs/how-to/hosts.md", startApacheWithSetting, withThreads],
] as const) {
  test(name, async ({ page }) => {
    const folder = makeApp("import-map");
    addModels(folder);
    const server = await start(folder);
    await expectStory(page, server.origin, engine).finally(() => server.stop());
  });
}

/** Documents, and files of the package. */
const paths = ["/", "/stories/index.html", "/gpt2/gpt2-worker.js"];

test("Netlify's parser accepts its setting in docs/how-to/hosts.md", async ({}, testInfo) => {
  const file = testInfo.outputPath("_headers");
  writeFileSync(file, settingFor("Netlify"));
  const { headers, errors } = await parseAllHeaders({
    headersFiles: [file],
    configHeaders: undefined,
    minimal: false,
  });
  expect(errors).toEqual([]);
  expect(headers.map(({ values }) => values)).toEqual([isolation]);
  const [rule] = headers as Header[]; // not minimal
  for (const path of paths) expect(path).toMatch(rule?.forRegExp ?? "no rule");
});

test("Vercel's parser accepts its setting in docs/how-to/hosts.md", () => {
  const { routes, error } = getTransformedRoutes(JSON.parse(settingFor("Vercel")));
  expect(error).toBeNull();
  const [rule] = routes as { src: string; headers: object }[];
  expect(rule?.headers).toEqual(isolation);
  for (const path of paths) expect(path).toMatch(new RegExp(rule?.src ?? "no rule"));
});
