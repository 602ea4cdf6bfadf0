// Every tool of tools.ts, in each of its versions: built and in development, from the packed tarball, in Chromium. Writes the
// table of docs/how-to/bundlers.md. Part of `npm run test:embed`.
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type Page } from "@playwright/test";
import { serve } from "../browsers/static-host.js";
import { expectStory, expectWriter, makeApp, root, run, startServer } from "./app.js";
import { watchDelivery, type Delivery } from "./delivery.js";
import { settingFor } from "./servers.js";
import { noteFound, toolRows } from "./tools-table.js";
import { tools, type Tool, type Version } from "./tools.js";
import { checkTable } from "./written-table.js";

test.describe.configure({ timeout: 300_000 }); // they are installed first

/** The app of `tool` at `origin` has written; returns how it got worker and engine. */
async function expectWritten(page: Page, tool: Tool, folder: string, origin: string, engine: string) {
  const delivery = watchDelivery(page, folder);
  if (tool.shows === "writer") await expectWriter(page, origin);
  else await expectStory(page, origin, engine);
  return delivery();
}

function makeTool({ example, dependency, change }: Tool, version: Version, isOwn: boolean): string {
  const own = dependency ? { [dependency]: version.version } : {};
  const folder = makeApp(
    example,
    dependency !== undefined,
    isOwn ? {} : { ...own, ...version.dependencies },
    version.node,
  );
  change?.(folder);
  version.change?.(folder);
  return folder;
}

async function tryBuild(page: Page, tool: Tool, folder: string): Promise<Delivery> {
  const { script, folder: built } = tool.build;
  if (built === undefined) writeFileSync(join(folder, "next.config.mjs"), settingFor("Next\\.js"));
  run(folder, "npm", "run", script);
  if (built === undefined) {
    const server = await startServer(folder, "npm", "run", "start", "--", "--port={port}");
    return expectWritten(page, tool, folder, server.origin, "threads-relaxed").finally(() => server.stop());
  }
  const html = join(folder, "public/index.html");
  const target = join(folder, built, "index.html");
  if (!existsSync(target) && existsSync(html)) copyFileSync(html, target); // webpack's and Rspack's page
  const host = await serve(true, { "/": join(folder, built) });
  return expectWritten(page, tool, folder, host.origin, "threads-relaxed").finally(() => host.close());
}

async function tryDevelopment(page: Page, tool: Tool, folder: string): Promise<Delivery | undefined> {
  if (!tool.dev) return undefined;
  if (tool.build.folder === undefined) writeFileSync(join(folder, "next.config.mjs"), "export default {};\n");
  const server = await startServer(folder, "npm", "run", "dev", "--", ...tool.dev);
  return expectWritten(page, tool, folder, server.origin, "simd-relaxed").finally(() => server.stop());
}

for (const tool of tools) {
  for (const [index, version] of tool.versions.entries()) {
    test(`the module works with ${tool.name} ${version.version}, built and in development`, async ({
      page,
      context,
    }) => {
      await context.route("**/models/demo/**", (route) => {
        const { pathname } = new URL(route.request().url());
        return route.fulfill({ path: join(root, "web", pathname.slice(pathname.indexOf("/models/"))) });
      });
      const folder = makeTool(tool, version, index === tool.versions.length - 1);
      const built = await tryBuild(page, tool, folder);
      const second = await context.newPage();
      const development = await tryDevelopment(second, tool, folder);
      noteFound(tool, version, development ? { built, development } : { built });
    });
  }
}

test("the table of docs/how-to/bundlers.md agrees with these tests", () => {
  checkTable("docs/how-to/bundlers.md", "tools", toolRows());
});
