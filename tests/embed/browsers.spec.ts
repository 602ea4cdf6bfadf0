// The cases that the other files here test in Chromium, in Firefox and WebKitGTK. They are bundled apps, a default
// server, other origins, headers on the document alone, and isolate.js. Part of `npm run test:embed`.
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { within, type Browser } from "../browsers/browser.js";
import { cases } from "../browsers/cases.js";
import { serve } from "../browsers/static-host.js";
import { until } from "../browsers/until.js";
import { addModels, expectedText, makeApp, root, run } from "./app.js";
import { Host, isolation } from "./host.js";
import { startNginx } from "./servers.js";

test.describe.configure({ timeout: 300_000 });

const models = { "/models/": join(root, "web/models") };
const patienceMs = 60_000;

interface App {
  name: string;
  make: () => string;
}

/** Folders to be served, each with an app that a bundler has built. */
const apps: readonly App[] = [
  {
    name: "Vite",
    make: () => {
      const folder = makeApp("vite");
      run(folder, join(root, "node_modules/.bin/vite"), "build", "--logLevel", "warn");
      return join(folder, "dist");
    },
  },
  {
    name: "webpack",
    make: () => {
      const folder = makeApp("webpack", true);
      run(folder, "npm", "run", "build");
      run(folder, "cp", "public/index.html", "dist");
      return join(folder, "dist");
    },
  },
  {
    name: "esbuild",
    make: () => {
      const folder = makeApp("esbuild");
      run(
        folder,
        join(root, "node_modules/.bin/esbuild"),
        "main.js",
        "--bundle",
        "--format=esm",
        "--splitting",
        "--outdir=public",
      );
      run(folder, "cp", "-r", "node_modules/gpt2-wasm/build/package", "public/gpt2");
      return join(folder, "public");
    },
  },
  { name: "no bundler", make: () => makeApp("import-map") },
];

/** An expression for the text that a page has written with the module at `module`, as JSON. */
const write = (module: string, model: string) => `(async () => {
  const { loadModel } = await import("${module}");
  const model = await loadModel("${model}", { threads: 2 });
  const { text } = await model.complete("Once upon a time", { maxNewTokens: 24, seed: 1 });
  const { variant } = model.info;
  await model.dispose();
  return JSON.stringify({ variant, text });
})()`;

/** The other files here test Chromium. WebKitGTK without shared memory is left out, because Safari has it. */
const others = cases.filter(({ name }) => name !== "Chromium" && name !== "WebKitGTK");

/** The folders of apps that are built already. */
const folders = new Map<string, string>();
function folderOf({ name, make }: App): string {
  const folder = folders.get(name) ?? make();
  folders.set(name, folder);
  return folder;
}

for (const { name, launch, mostHangs, isolated, page } of others) {
  test.describe.serial(name, () => {
    let browser: Browser;
    let host: Host;
    let cdn: Host;
    test.beforeAll(async () => void (browser = await launch()));
    test.afterAll(() => browser.close());
    test.beforeEach(async () => {
      const folder = join(root, "build/embed/import-map/node_modules/gpt2-wasm/build/package");
      [host, cdn] = await Promise.all([new Host(folder).start(), new Host(folder).start()]);
    });
    test.afterEach(() => [host, cdn].forEach((each) => each.stop()));

    /** Under WebDriver, Firefox sometimes hangs while a worker starts another worker: see cases.ts. */
    async function written(url: string, expression: string): Promise<unknown> {
      for (let hangs = 0; ; hangs++) {
        await browser.open(url);
        try {
          const answer = within(
            mostHangs > 0 ? patienceMs / 3 : patienceMs,
            "the story",
            browser.evaluate(expression),
          );
          return JSON.parse(await answer);
        } catch (error) {
          if (hangs === mostHangs) throw error;
        }
      }
    }

    async function expectApp(url: string): Promise<void> {
      await browser.open(url);
      await until(
        browser,
        `document.querySelector("output").textContent === ${JSON.stringify(expectedText())}`,
      );
    }

    for (const app of apps) {
      test(`the app built by ${app.name} writes in this browser`, async () => {
        const server = await serve(false, { ...models, "/": folderOf(app) });
        await expectApp(`${server.origin}/index.html`).finally(() => server.close());
      });
    }

    test("the module writes when served by nginx in its default configuration", async () => {
      const folder = makeApp("import-map");
      addModels(folder);
      const server = await startNginx(folder);
      await expectApp(server.origin).finally(() => server.stop());
    });

    const story = { variant: isolated.variant, text: expectedText() };

    test("module, worker and engine load from another origin, with threads", async () => {
      host.page = isolation;
      cdn.files = { "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" };
      const module = `${cdn.origin}/gpt2/gpt2.js`;
      expect(await written(host.origin, write(module, "/models/demo/"))).toEqual(story);
      expect(host.requests.filter((path) => path.startsWith("/gpt2/"))).toEqual([]);
    });

    test("the module has threads if only the document has the headers", async () => {
      host.page = isolation;
      expect(await written(host.origin, write("/gpt2/gpt2.js", "/models/demo/"))).toEqual(story);
    });

    test("isolate.js isolates the page", async () => {
      host.replaced["/isolate.js"] = host.read("isolate.js");
      await browser.open(host.origin);
      await browser.evaluate(
        `import("/gpt2/gpt2.js").then(({ isolate }) => void isolate("/isolate.js")).then(() => "")`,
      );
      // While the page is reloaded, Firefox has an empty one in its place, which is isolated already.
      await until(browser, `crossOriginIsolated && location.protocol === "http:"`);
      const answer = await browser.evaluate(write("/gpt2/gpt2.js", "/models/demo/"));
      expect(JSON.parse(answer)).toEqual({ variant: page.variant, text: expectedText() });
    });
  });
}
