// Every tool of tools.ts, in each of its versions: built and in development, from the packed tarball, in Chromium. The step
// `embed` runs the light ones, and `npm run test:embed` all.
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { isolation, serve } from "../browsers/static-host.js";
import { expectStory, expectWriter, makeApp, root, run, startServer } from "./app.js";
import { watchDelivery, type Delivery } from "./delivery.js";
import { settingFor } from "./servers.js";
import { tools, type Tool, type TriedVersion } from "./tools.js";
import { checkTable } from "./written-table.js";

/** Apps that are tried after every change. */
const light = ["Vite 5.4.21", "Vite 8.3.8", "webpack 5.112.2", "Next.js 16.4.6"];

/** The app of `tool` at `origin` has written; returns how it got worker and engine. */
async function expectWritten(page: Page, tool: Tool, folder: string, origin: string, engine: string) {
  const delivery = watchDelivery(page, folder);
  if (tool.shows === "writer") await expectWriter(page, origin);
  else await expectStory(page, origin, engine);
  if (tool.example === "next") await expectWriter(page, origin); // its props survive hydration
  return delivery();
}

function makeTool({ example, dependency, change, versions }: Tool, version: TriedVersion): string {
  const other = { ...(dependency && { [dependency]: version.version }), ...version.dependencies };
  const folder = makeApp(
    example,
    dependency !== null,
    version === versions.at(-1) ? {} : other,
    version.node,
  );
  change?.(folder);
  version.change?.(folder);
  return folder;
}

async function tryBuild(page: Page, tool: Tool, folder: string): Promise<Delivery> {
  const { script, folder: built } = tool;
  if (built === undefined) writeFileSync(join(folder, "next.config.mjs"), settingFor("Next\\.js"));
  run(folder, "npm", "run", script);
  if (built === undefined) {
    const server = await startServer(folder, "npm", "run", "start", "--", "--port={port}");
    return expectWritten(page, tool, folder, server.origin, "threads-relaxed").finally(() => server.stop());
  }
  const html = join(folder, "public/index.html");
  const target = join(folder, built, "index.html");
  if (!existsSync(target) && existsSync(html)) copyFileSync(html, target); // webpack's and Rspack's page
  const host = await serve({ "/": join(folder, built) }, isolation);
  return expectWritten(page, tool, folder, host.origin, "threads-relaxed").finally(() => host.close());
}

async function tryDevelopment(page: Page, tool: Tool, folder: string): Promise<Delivery> {
  if (tool.folder === undefined) writeFileSync(join(folder, "next.config.mjs"), "export default {};\n");
  const server = await startServer(folder, "npm", "run", "dev", "--", ...(tool.dev ?? []));
  return expectWritten(page, tool, folder, server.origin, "simd-relaxed").finally(() => server.stop());
}

for (const tool of tools) {
  for (const version of tool.versions) {
    const name = `${tool.name} ${version.version}`;
    const tag = light.includes(name) ? [] : ["@weekly"];
    test(`the module works with ${name}, built and in development`, { tag }, async ({ page, context }) => {
      await context.route("**/models/demo/**", (route) => {
        const { pathname } = new URL(route.request().url());
        return route.fulfill({ path: join(root, "web", pathname.slice(pathname.indexOf("/models/"))) });
      });
      const folder = makeTool(tool, version);
      expect(await tryBuild(page, tool, folder)).toBe(version.built);
      if (tool.dev)
        expect(await tryDevelopment(await context.newPage(), tool, folder)).toBe(version.development);
    });
  }
}

/** One row for the versions of a tool that do the same. */
function rowsOf({ name, example, dev, configuration, versions }: Tool): string[][] {
  const groups = new Map<string, string[]>();
  for (const { version, built, development } of versions) {
    const cells = `works, ${built} | ${dev ? `works, ${development}` : ""} | ${configuration}`;
    groups.set(cells, [...(groups.get(cells) ?? []), version]);
  }
  return [...groups].map(([cells, all]) => [`[${name}](../../examples/${example})`, all.join(", "), cells]);
}

test("docs/how-to/bundlers.md says how each tool works", () => {
  const head = ["tool", "versions", "built", "in development", "what to configure"];
  checkTable("docs/how-to/bundlers.md", "tools", [head, ...tools.flatMap(rowsOf)]);
});
