// Difficult hosts and pages: other origins, headers on some files only, policies, frames, plain http. Each works, or the
// error states in one sentence what to change.
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { hashedScript } from "../../web/scripts/hash-files.mjs";
import type * as Gpt2 from "../../web/src/client/index.js";
import { makeApp } from "./app.js";
import { Host, isolation } from "./host.js";

let packageFolder: string;
let host: Host;
let cdn: Host;
test.beforeAll(() => {
  packageFolder = join(makeApp("import-map"), "node_modules/gpt2-wasm/build/package");
});
test.beforeEach(async () => {
  [host, cdn] = await Promise.all([new Host(packageFolder).start(), new Host(packageFolder).start()]);
});
test.afterEach(() => [host, cdn].forEach((each) => each.stop()));

/** Loads the model in a page or frame, and returns what runs, or `code: message`. */
const load = (
  page: Pick<Page, "evaluate">,
  module = "/gpt2/gpt2.js",
  options: Gpt2.LoadOptions = {},
  model = "/models/demo/",
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

const withThreads = "3 tokens, threads-relaxed, 2, null";

test.describe("on a page of another origin", () => {
  const share = { "Access-Control-Allow-Origin": "*" };

  test("a page of another origin loads module, worker and engine from a host with CORS, with threads", async ({
    page,
  }) => {
    host.page = isolation;
    cdn.files = share;
    await page.goto(host.origin);
    expect(await load(page, `${cdn.origin}/gpt2/gpt2.js`)).toBe(withThreads);
    expect(host.requests.filter((path) => path.startsWith("/gpt2/"))).toEqual([]);
  });

  test("a page of another origin loads what baseUrl names, from that host or its own", async ({ page }) => {
    host.page = isolation;
    host.files = isolation;
    cdn.files = share;
    await page.goto(host.origin);
    expect(await load(page, "/gpt2/gpt2.js", { baseUrl: `${cdn.origin}/gpt2` })).toBe(withThreads);
    expect(cdn.requests).toContain("/gpt2/engine/gpt2-threads-relaxed.wasm");
    expect(await load(page, "/gpt2/gpt2.js", { baseUrl: "/gpt2/" })).toBe(withThreads);
    expect(host.requests).toContain("/gpt2/engine/gpt2-threads-relaxed.wasm");
  });

  test("on a page of another origin, the error names the script that a host without CORS refuses", async ({
    page,
  }) => {
    await page.goto(host.origin);
    expect(await load(page, "/gpt2/gpt2.js", { baseUrl: `${cdn.origin}/gpt2/` })).toMatch(
      /^network: the worker's script gpt2-worker\.js cannot be loaded.*Access-Control-Allow-Origin/,
    );
  });
});

test.describe("headers for isolation", () => {
  for (const [name, headers] of [
    ["COOP and COEP", isolation],
    ["credentialless", { ...isolation, "Cross-Origin-Embedder-Policy": "credentialless" }],
    ["Document-Isolation-Policy", { "Document-Isolation-Policy": "isolate-and-require-corp" }],
  ] as const) {
    test(`the headers of ${name}, on the document alone, give threads`, async ({ page }) => {
      host.page = headers;
      await page.goto(host.origin);
      expect(await load(page)).toBe(withThreads);
    });
  }

  test("without isolation headers, following the notice and explainEnvironment gives threads", async ({
    page,
  }) => {
    await page.goto(host.origin);
    const found = await page.evaluate(async () => {
      const { explainEnvironment } = (await import(
        new URL("/gpt2/gpt2.js", location.href).href
      )) as typeof Gpt2;
      return explainEnvironment();
    });
    expect(found.threads).toMatchObject({
      has: false,
      remedy: "Cross-Origin-Opener-Policy: same-origin\nCross-Origin-Embedder-Policy: credentialless",
    });
    expect([found.simd.has, found.relaxedSimd.has, found.storage.has, found.memory.has]).toEqual(
      Array(4).fill(true),
    );
    expect(host.requests.filter((path) => /worker|engine|models/.test(path))).toEqual([]);
    expect(await load(page)).toMatch(/simd-relaxed, 1, Running on one thread: the page is not cross-origin/);
    const speed = await page.evaluate(async () => {
      const { loadModel } = (await import(new URL("/gpt2/gpt2.js", location.href).href)) as typeof Gpt2;
      const model = await loadModel("/models/demo/");
      const explanation = await model.explain();
      await model.dispose();
      return explanation.speed;
    });
    expect(speed.has).toBe(false);
    expect(speed.reason).toContain('The engine runs as "simd-relaxed" on one thread.');
    expect(speed.remedy).toBe(found.threads.remedy);
  });
});

test.describe("isolate.js", () => {
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>`;

  test("isolate.js enables threads, reloads once, and leaves pictures and frames of other hosts alone", async ({
    page,
  }) => {
    cdn.page = { "Content-Type": "image/svg+xml" };
    cdn.replaced["picture.svg"] = picture;
    cdn.replaced["frame.html"] = "<title>frame</title>";
    host.html = `<!doctype html><title>page</title>
      <img src="${cdn.origin}/picture.svg"><iframe src="${cdn.origin}/gpt2/frame.html"></iframe>
      <script type="module">
        import { isolate } from "/gpt2/gpt2.js";
        globalThis.isIsolated = await isolate("/isolate.js");
      </script>`;
    host.replaced["/isolate.js"] = host.read("isolate.js");
    let loads = 0;
    page.on("load", () => (loads += 1));
    await page.goto(host.origin);
    await page.waitForFunction(() => (globalThis as { isIsolated?: boolean }).isIsolated);
    expect(await load(page)).toBe(withThreads);
    expect(await page.evaluate(() => document.images[0]?.naturalWidth)).toBe(8);
    expect(await page.frames()[1]?.title()).toBe("frame");
    expect(loads).toBe(2);
  });

  test("isolate.js reloads the page only once if that does not help", async ({ page }) => {
    host.html = `<!doctype html><script type="module">
      import { isolate } from "/gpt2/gpt2.js";
      globalThis.isIsolated = await isolate("/isolate.js");
    </script>`;
    host.replaced["/isolate.js"] = "self.onactivate = (event) => event.waitUntil(self.clients.claim());";
    const pages = () => host.requests.filter((path) => path === "/").length;
    await page.goto(host.origin);
    await expect.poll(pages).toBe(2);
    const settled = () => (globalThis as { isIsolated?: boolean }).isIsolated === false;
    await page.waitForFunction(settled);
    await page.reload();
    await page.waitForFunction(settled);
    expect(pages()).toBe(3);
  });
});

test.describe("types", () => {
  test("the engine loads even if WebAssembly has a wrong type and nosniff", async ({ page }) => {
    host.page = host.files = isolation;
    await page.route("**/*.wasm*", async (route) => {
      const response = await route.fetch();
      const headers = {
        ...response.headers(),
        "content-type": "text/plain",
        "x-content-type-options": "nosniff",
      };
      await route.fulfill({ response, headers });
    });
    await page.goto(host.origin);
    expect(await load(page)).toBe(withThreads);
  });
});

test.describe("policies", () => {
  const minimum = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

  test("the documented minimal policy is enough for the page", async ({ page }) => {
    const headers = { ...isolation, "Content-Security-Policy": minimum };
    host.page = host.files = headers;
    await page.goto(host.origin);
    expect(await load(page)).toBe(withThreads);
  });

  test("if a policy forbids WebAssembly, the error names the directive to add", async ({ page }) => {
    host.page = host.files = { "Content-Security-Policy": "script-src 'self'; connect-src 'self'" };
    await page.goto(host.origin);
    expect(await load(page)).toBe(
      "unsupported: the page's content security policy forbids WebAssembly: " +
        "add 'wasm-unsafe-eval' to the script-src of its Content-Security-Policy",
    );
  });

  test("the module works under a policy that requires Trusted Types", async ({ page }) => {
    const policy = `require-trusted-types-for 'script'; trusted-types gpt2-wasm`;
    host.page = host.files = { ...isolation, "Content-Security-Policy": policy };
    await page.goto(host.origin);
    expect(await load(page)).toBe(withThreads);
  });

  test("if a policy of Trusted Types lacks ours, the error names it", async ({ page }) => {
    host.page = { "Content-Security-Policy": `require-trusted-types-for 'script'; trusted-types other` };
    await page.goto(host.origin);
    expect(await load(page)).toMatch(/^unsupported: the engine needs a worker.*trusted-types gpt2-wasm/);
  });
});

test.describe("frames", () => {
  test("a frame of another origin gets threads if its parent allows it", async ({ page }) => {
    host.page = isolation;
    const corp = { ...isolation, "Cross-Origin-Resource-Policy": "cross-origin" };
    cdn.page = cdn.files = corp;
    host.html = `<!doctype html><iframe allow="cross-origin-isolated" src="${cdn.origin}/"></iframe>`;
    await page.goto(host.origin);
    const frame = page.frames()[1] as unknown as Page;
    expect(await load(frame)).toBe(withThreads);
  });

  test("a frame of another origin runs on one thread if its parent does not allow more", async ({ page }) => {
    host.html = `<!doctype html><iframe src="${cdn.origin}/"></iframe>`;
    await page.goto(host.origin);
    expect(await load(page.frames()[1] as unknown as Page)).toContain("3 tokens, simd-relaxed, 1");
  });

  test("a sandboxed frame runs on one thread if the host shares its files", async ({ page }) => {
    cdn.files = { "Access-Control-Allow-Origin": "*" };
    host.html = `<!doctype html><iframe sandbox="allow-scripts" src="${cdn.origin}/"></iframe>`;
    await page.goto(host.origin);
    const frame = page.frames()[1] as unknown as Page;
    const model = `${cdn.origin}/models/demo/`;
    expect(await load(frame, `${cdn.origin}/gpt2/gpt2.js`, {}, model)).toContain("3 tokens, simd-relaxed, 1");
  });
});

test("on a plain http host the notice names the missing TLS, not the headers", async ({ playwright }) => {
  const { launchOptions } = test.info().project.use;
  const args = [...(launchOptions?.args ?? []), "--host-resolver-rules=MAP gpt2.lan 127.0.0.1"];
  const browser = await playwright.chromium.launch({ ...launchOptions, args });
  host.page = host.files = isolation; // browsers ignore these headers there
  const page = await browser.newPage();
  await page.goto(`http://gpt2.lan:${host.port}/`);
  expect(await load(page)).toMatch(/3 tokens, simd-relaxed, 1, Running on one thread: .*http.*https/);
  const remedy = await page.evaluate(async () => {
    const { explainEnvironment } = (await import(
      new URL("/gpt2/gpt2.js", location.href).href
    )) as typeof Gpt2;
    return (await explainEnvironment()).threads.remedy;
  });
  expect(remedy).toBe("serve the page over https");
  await browser.close();
});

test.describe("builds that this browser cannot run", () => {
  test("if this browser cannot run a build, the next one is used", async ({ page }) => {
    host.page = isolation;
    host.files = { ...isolation, "Cache-Control": "no-store" };
    host.replaced["threads-relaxed.wasm"] = hashedScript("this does not compile");
    await page.goto(host.origin);
    expect(await load(page)).toMatch(/^3 tokens, threads, 2, Running without relaxed SIMD/);
    host.replaced["gpt2-threads.wasm"] = hashedScript("nor does this");
    expect(await load(page)).toMatch(/^3 tokens, simd, 1, Running on one thread/);
  });
});

test("a cached worker of another release is fetched again", async ({ page }) => {
  let asked = 0;
  await page.route(/gpt2-worker\.js$/, (route) => {
    asked += 1;
    const body = `postMessage({ type: "started", release: "0.0.9-old" })`;
    return route.fulfill({ body, contentType: "text/javascript", headers: isolation });
  });
  await page.goto(host.origin);
  expect(await load(page)).toMatch(/^3 tokens/);
  expect(asked).toBe(1);
});

test("module and worker of two releases refuse each other", async ({ page }) => {
  host.replaced["gpt2-worker.js"] = `postMessage({ type: "started", release: "0.0.9-old" })`;
  await page.goto(host.origin);
  expect(await load(page)).toMatch(
    /^unsupported: gpt2\.js is release \d\S+, but gpt2-worker\.js is 0\.0\.9-old: reload the page/,
  );
});
