// What the other files here test in Chromium, in Firefox and WebKitGTK: a bundled app, other origins, headers on the
// document alone, and isolate.js. Part of `npm run test:embed`.
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { within, type Browser } from "../browsers/browser.js";
import { cases } from "../browsers/cases.js";
import { serve } from "../browsers/static-host.js";
import { until } from "../browsers/until.js";
import { expectedText, makeApp, root, run } from "./app.js";
import { Host, isolation } from "./host.js";

test.describe.configure({ timeout: 300_000 });

const patienceMs = 60_000;

/** An expression for the text that a page has written with the module at `module`, as JSON. */
const write = (module: string) => `(async () => {
  const { loadModel } = await import("${module}");
  const model = await loadModel("/models/demo/", { threads: 2 });
  const { text } = await model.complete("Once upon a time", { maxNewTokens: 24, seed: 1 });
  const { variant } = model.info;
  await model.dispose();
  return JSON.stringify({ variant, text });
})()`;

/** The other files here test Chromium. WebKitGTK without shared memory is left out, because Safari has it. */
const others = cases.filter(({ name }) => name !== "Chromium" && name !== "WebKitGTK");

for (const { name, launch, mostHangs, isolated, page } of others) {
  test.describe.serial(name, () => {
    let browser: Browser;
    let host: Host;
    let cdn: Host;
    test.beforeAll(async () => void (browser = await launch()));
    test.afterAll(() => browser.close());
    test.beforeEach(async () => {
      const folder = join(makeApp("import-map"), "node_modules/gpt2-wasm/build/package");
      [host, cdn] = await Promise.all([new Host(folder).start(), new Host(folder).start()]);
    });
    test.afterEach(() => [host, cdn].forEach((each) => each.stop()));

    const story = { variant: isolated.variant, text: expectedText() };
    /** What the host's page writes. Under WebDriver, Firefox sometimes hangs while a worker starts another: see cases.ts. */
    async function written(module: string): Promise<unknown> {
      const wait = mostHangs > 0 ? patienceMs / 3 : patienceMs;
      for (let hangs = 0; ; hangs++) {
        await browser.open(host.origin);
        try {
          return JSON.parse(await within(wait, "the story", browser.evaluate(write(module))));
        } catch (error) {
          if (hangs === mostHangs) throw error;
        }
      }
    }

    test("an app that Vite has built writes in this browser", async () => {
      const folder = makeApp("vite");
      run(folder, join(root, "node_modules/.bin/vite"), "build", "--logLevel", "warn");
      const models = join(root, "web/models");
      const server = await serve(false, { "/models/": models, "/": join(folder, "dist") });
      await browser.open(`${server.origin}/index.html`);
      const isWritten = `document.querySelector("output").textContent === ${JSON.stringify(expectedText())}`;
      await until(browser, isWritten).finally(() => server.close());
    });

    test("module, worker and engine load from another origin, with threads", async () => {
      host.page = isolation;
      cdn.files = { "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" };
      expect(await written(`${cdn.origin}/gpt2/gpt2.js`)).toEqual(story);
      expect(host.requests.filter((path) => path.startsWith("/gpt2/"))).toEqual([]);
    });

    test("the module has threads if only the document has the headers", async () => {
      host.page = isolation;
      expect(await written("/gpt2/gpt2.js")).toEqual(story);
    });

    test("isolate.js isolates the page", async () => {
      host.replaced["/isolate.js"] = host.read("isolate.js");
      await browser.open(host.origin);
      const isolate = `import("/gpt2/gpt2.js").then(({ isolate }) => void isolate("/isolate.js")).then(() => "")`;
      await browser.evaluate(isolate);
      // While the page is reloaded, Firefox has an empty one in its place, which is isolated already.
      await until(browser, `crossOriginIsolated && location.protocol === "http:"`);
      const answer = await browser.evaluate(write("/gpt2/gpt2.js"));
      expect(JSON.parse(answer)).toEqual({ ...story, variant: page.variant });
    });
  });
}
