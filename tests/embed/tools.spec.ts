// Every tool of tools.ts, in each of its versions: built and in development, from the packed tarball, in Chromium. Writes the
// table of docs/how-to/bundlers.md. The step `embed` runs the light ones, and `npm run test:embed` all.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type Page } from "@playwright/test";
import { isolation, serve } from "../browsers/static-host.js";
import { expectStory, expectWriter, makeApp, root, run, startServer } from "./app.js";
import { watchDelivery, type Delivery } from "./delivery.js";
import { settingFor } from "./servers.js";
import { tools, type Tool, type Version } from "./tools.js";
import { checkTable } from "./written-table.js";

test.describe.configure({ timeout: 300_000 }); // they are installed first

/** Apps that are tried after every change. */
const light = ["Vite 5.4.21", "Vite 8.3.8", "webpack 5.112.2", "Next.js 16.4.6"];

interface Found {
  built: Delivery;
  /** undefined for tools that have no server. */
  development?: Delivery | undefined;
}
const foundFile = join(root, "build/embed/found.json");
const readFound = (): Record<string, Found> =>
  existsSync(foundFile) ? JSON.parse(readFileSync(foundFile, "utf8")) : {};

/** Stores a result in a file, because after a failure Playwright runs the rest in another process. */
function noteFound(name: string, found: Found): void {
  mkdirSync(dirname(foundFile), { recursive: true });
  writeFileSync(foundFile, JSON.stringify({ ...readFound(), [name]: found }, null, 2));
}

/** The app of `tool` at `origin` has written; returns how it got worker and engine. */
async function expectWritten(page: Page, tool: Tool, folder: string, origin: string, engine: string) {
  const delivery = watchDelivery(page, folder);
  if (tool.shows === "writer") await expectWriter(page, origin);
  else await expectStory(page, origin, engine);
  return delivery();
}

function makeTool({ example, dependency, change, versions }: Tool, version: Version): string {
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

async function tryDevelopment(page: Page, tool: Tool, folder: string): Promise<Delivery | undefined> {
  if (!tool.dev) return undefined;
  if (tool.folder === undefined) writeFileSync(join(folder, "next.config.mjs"), "export default {};\n");
  const server = await startServer(folder, "npm", "run", "dev", "--", ...tool.dev);
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
      const built = await tryBuild(page, tool, folder);
      const development = await tryDevelopment(await context.newPage(), tool, folder);
      noteFound(name, { built, development });
    });
  }
}

/** One row for the versions of a tool that do the same. */
function rowsOf(tool: Tool): string[][] {
  const all = readFound();
  const groups = new Map<string, { versions: string[]; found: Found }>();
  for (const { version } of tool.versions) {
    const found = all[`${tool.name} ${version}`];
    if (!found) throw new Error(`${tool.name} ${version} has not passed: run the whole of tools.spec.ts`);
    const group = groups.get(JSON.stringify(found)) ?? { versions: [], found };
    groups.set(JSON.stringify(found), group);
    group.versions.push(version);
  }
  const link = `[${tool.name}](../../examples/${tool.example})`;
  const works = (delivery?: Delivery) => (delivery ? `works, ${delivery}` : "");
  return [...groups.values()].map(({ versions, found: { built, development } }) => [
    ...[link, versions.join(", "), works(built), works(development), tool.configuration],
  ]);
}

test("the table of docs/how-to/bundlers.md agrees with these tests", { tag: "@weekly" }, () => {
  const head = ["tool", "versions", "built", "in development", "what to configure"];
  checkTable("docs/how-to/bundlers.md", "tools", [head, ...tools.flatMap(rowsOf)]);
});
