// Difficult hosts and pages: other origins, headers on some files only, policies, frames, plain http. Each works, or the
// error states in one sentence what to change.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import type * as Gpt2 from "../../web/src/client/index.js";
import { isolation, serve, shared, type StaticHost } from "../browsers/static-host.js";
import { inPage } from "../e2e/model.js";
import { expectStory, makeApp, root, run } from "./app.js";

let host: StaticHost;
let cdn: StaticHost;
let folders: Record<string, string>;
test.beforeAll(() => {
  const folder = join(makeApp("import-map"), "node_modules/gpt2-wasm/build/package");
  folders = { "/gpt2/": folder, "/models/": join(root, "web/models"), "/": folder };
});
test.beforeEach(async () => void ([host, cdn] = await Promise.all([serve(folders), serve(folders)])));
test.afterEach(() => Promise.all([host.close(), cdn.close()]));

interface Asked {
  module?: string;
  options?: Gpt2.LoadOptions;
  model?: string;
}
/** Loads the model in a page or frame, and returns what runs, or `code: message`. */
const load = (
  page: Pick<Page, "evaluate">,
  { module = "/gpt2/gpt2.js", options = {}, model = "/models/demo/" }: Asked = {},
) =>
  page.evaluate(
    async ([address, loadOptions, folder]) => {
      const { loadModel } = (await import(address)) as typeof Gpt2;
      try {
        const loaded = await loadModel(folder, { threads: 2, ...loadOptions } as Gpt2.LoadOptions);
        const { tokens } = await loaded.complete("Once", { maxNewTokens: 3 });
        const { variant, threads, notice } = loaded.info;
        await loaded.dispose();
        return `${tokens.length} tokens, ${variant}, ${threads}, ${notice}`;
      } catch (error) {
        const { code, message } = error as { code: string; message: string };
        return `${code}: ${message}`;
      }
    },
    [module, options, model] as const,
  );

const withThreads = /^3 tokens, threads-relaxed, 2, null$/;

const share = { "Access-Control-Allow-Origin": "*" };
const forFrames = { ...isolation, ...shared };
const withPolicy = (text: string) => ({ ...isolation, "Content-Security-Policy": text });
const typesPolicy = (names: string) =>
  withPolicy(`require-trusted-types-for 'script'; trusted-types ${names}`);
const minimum = withPolicy("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'");
const ours = typesPolicy("gpt2-wasm");
const frame = (attributes: string) => (origin: string) =>
  `<!doctype html><iframe ${attributes} src="${origin}/"></iframe>`;

/** The headers of pages and of files of this host, and those of the other host. */
interface Sent {
  page?: Record<string, string>;
  files?: Record<string, string>;
  other?: Record<string, string>;
  /** The page's HTML, if the module is loaded in its frame. */
  html?: (other: string) => string;
}
type Row = readonly [name: string, sent: Sent, found: RegExp, asked?: (other: string) => Asked];

const rows: readonly Row[] = [
  [
    "a page of another origin loads module, worker and engine from a host with CORS, with threads",
    { page: isolation, other: share },
    withThreads,
    (other) => ({ module: `${other}/gpt2/gpt2.js` }),
  ],
  [
    "baseUrl may name a host of another origin with CORS",
    { page: isolation, files: isolation, other: share },
    withThreads,
    (other) => ({ options: { baseUrl: `${other}/gpt2` } }),
  ],
  [
    "baseUrl may name a folder of the page's own host",
    { page: isolation, files: isolation },
    withThreads,
    () => ({ options: { baseUrl: "/gpt2/" } }),
  ],
  [
    "the error names the script that a host without CORS refuses",
    {},
    /^network: the worker's script gpt2-worker\.js cannot be loaded.*Access-Control-Allow-Origin/,
    (other) => ({ options: { baseUrl: `${other}/gpt2/` } }),
  ],
  [
    "credentialless on the document alone gives threads",
    { page: { ...isolation, "Cross-Origin-Embedder-Policy": "credentialless" } },
    withThreads,
  ],
  [
    "Document-Isolation-Policy on the document alone gives threads",
    { page: { "Document-Isolation-Policy": "isolate-and-require-corp" } },
    withThreads,
  ],
  ["the documented minimal policy is enough", { page: minimum, files: minimum }, withThreads],
  ["the module works under a policy that requires Trusted Types", { page: ours, files: ours }, withThreads],
  [
    "if a policy of Trusted Types lacks ours, the error names it",
    { page: typesPolicy("other") },
    /^unsupported: the engine needs a worker.*trusted-types gpt2-wasm/,
  ],
  [
    "a frame of another origin gets threads if its parent allows it",
    { page: isolation, other: forFrames, html: frame(`allow="cross-origin-isolated"`) },
    withThreads,
  ],
  [
    "a frame of another origin runs on one thread if its parent does not allow more",
    { html: frame("") },
    /^3 tokens, simd-relaxed, 1/,
  ],
  [
    "a sandboxed frame runs on one thread if the host shares its files",
    { other: share, html: frame(`sandbox="allow-scripts"`) },
    /^3 tokens, simd-relaxed, 1/,
    (other) => ({ module: `${other}/gpt2/gpt2.js`, model: `${other}/models/demo/` }),
  ],
];

for (const [name, { page: headers = {}, files = {}, other = {}, html }, found, asked] of rows) {
  test(name, async ({ page }) => {
    host.page = headers;
    host.files = files;
    cdn.page = cdn.files = other;
    host.html = html?.(cdn.origin) ?? host.html;
    const violations: string[] = [];
    page.on("console", (message) => {
      if (message.text().includes("TrustedScriptURL")) violations.push(message.text());
    });
    await page.goto(host.origin);
    const place = html ? page.frames()[1] : page;
    const what = asked?.(cdn.origin) ?? {};
    expect(place && (await load(place, what))).toMatch(found);
    const ownFiles = host.requests.filter((path) => path.startsWith("/gpt2/"));
    if (what.module) expect(ownFiles).toEqual([]);
    if (found === withThreads) expect(violations).toEqual([]);
    if (what.options?.baseUrl && found === withThreads) {
      const [from, notFrom] = what.options.baseUrl === "/gpt2/" ? [host, cdn] : [cdn, host];
      const engine = "/gpt2/engine/gpt2-threads-relaxed.wasm";
      expect([from.requests.includes(engine), notFrom.requests.includes(engine)]).toEqual([true, false]);
    }
  });
}

test("a bundled app contains a worker for hosts that send the isolation headers only with the document", async ({
  page,
}) => {
  test.setTimeout(300_000); // it is installed first
  const folder = makeApp("vite", true);
  run(folder, "npm", "run", "build");
  const app = await serve({ "/assets/": join(folder, "dist/assets"), "/models/": join(root, "web/models") });
  app.page = isolation;
  app.html = readFileSync(join(folder, "dist/index.html"), "utf8");
  await expectStory(page, app.origin, "threads-relaxed");
  expect(app.requests.filter((path) => path.includes("gpt2-inlined"))).toHaveLength(1);
  await app.close();
});

const explained = (page: Page) => inPage(page, ({ explainEnvironment }) => explainEnvironment(), undefined);

test("without isolation headers, following the notice and explainEnvironment gives threads", async ({
  page,
}) => {
  await page.goto(host.origin);
  const found = await explained(page);
  expect(found.threads).toMatchObject({
    has: false,
    remedy: "Cross-Origin-Opener-Policy: same-origin\nCross-Origin-Embedder-Policy: credentialless",
  });
  expect([found.simd.has, found.relaxedSimd.has, found.storage.has, found.memory.has]).toEqual(
    Array(4).fill(true),
  );
  expect(host.requests.filter((path) => /worker|engine|models/.test(path))).toEqual([]);
  expect(await load(page)).toMatch(/simd-relaxed, 1, Running on one thread: the page is not cross-origin/);
  const speedOf = async ({ loadModel }: typeof Gpt2) => {
    const model = await loadModel("/models/demo/");
    return (await model.explain().finally(() => model.dispose())).speed;
  };
  const speed = await inPage(page, speedOf, undefined);
  expect(speed.has).toBe(false);
  expect(speed.reason).toContain('The engine runs as "simd-relaxed" on one thread.');
  expect(speed.remedy).toBe(found.threads.remedy);
});

test("isolate.js enables threads, reloads once, and leaves pictures and frames of other hosts alone", async ({
  page,
}) => {
  cdn.page = { "Content-Type": "image/svg+xml" };
  cdn.html = `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><title>frame</title></svg>`;
  host.html = `<!doctype html><title>page</title>
    <img src="${cdn.origin}"><iframe src="${cdn.origin}"></iframe>
    <script type="module">
      import { isolate } from "/gpt2/gpt2.js";
      globalThis.isIsolated = await isolate("/isolate.js");
    </script>`;
  let loads = 0;
  page.on("load", () => (loads += 1));
  await page.goto(host.origin);
  await page.waitForFunction(() => (globalThis as { isIsolated?: boolean }).isIsolated);
  expect(await load(page)).toMatch(withThreads);
  expect(await page.evaluate(() => document.images[0]?.naturalWidth)).toBe(8);
  expect(await page.frames()[1]?.title()).toBe("frame");
  expect(loads).toBe(2);
});

test("on a plain http host the notice names the missing TLS, not the headers", async ({ playwright }) => {
  const { launchOptions } = test.info().project.use;
  const args = [...(launchOptions?.args ?? []), "--host-resolver-rules=MAP gpt2.lan 127.0.0.1"];
  const browser = await playwright.chromium.launch({ ...launchOptions, args });
  host.page = host.files = isolation; // browsers ignore these headers there
  const page = await browser.newPage();
  await page.goto(`http://gpt2.lan:${host.port}/`);
  expect(await load(page)).toMatch(/3 tokens, simd-relaxed, 1, Running on one thread: .*http.*https/);
  expect((await explained(page)).threads.remedy).toBe("serve the page over https");
  await browser.close();
});
