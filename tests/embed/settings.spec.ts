// The settings that docs/how-to/hosts.md gives for hosts: each setting, used unchanged, gives threads.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllHeaders, type Header } from "@netlify/headers-parser";
import { expect, test } from "@playwright/test";
import { getTransformedRoutes } from "@vercel/routing-utils";
import { addModels, expectStory, makeApp, type RunningServer } from "./app.js";
import { isolation } from "./host.js";
import { settingFor, startApache, startCaddy, startNginx } from "./servers.js";

const servers: Record<string, (folder: string) => Promise<RunningServer>> = {
  nginx: (folder) => startNginx(folder, settingFor("nginx")),
  Apache: (folder) => {
    writeFileSync(join(folder, ".htaccess"), settingFor("Apache"));
    return startApache(folder, ["headers"]);
  },
  Caddy: (folder) => startCaddy(folder, settingFor("Caddy")),
};

for (const [name, start] of Object.entries(servers)) {
  test(`${name} gives threads with the setting of docs/how-to/hosts.md`, async ({ page }) => {
    const folder = makeApp("import-map");
    addModels(folder);
    const server = await start(folder);
    try {
      await expectStory(page, server.origin, "threads-relaxed");
    } finally {
      server.stop();
    }
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
