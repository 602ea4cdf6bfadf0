// Content security policies, in every browser: the error names the directive, and headers for a model go only to its host.
import { expect, test } from "@playwright/test";
import { FaultyHost } from "../e2e/faulty-host.js";
import { redirectTo, TwoHosts } from "../web/support/two-hosts.js";
import { engines } from "./cases.js";
import { inBrowsers } from "./tab.js";

/** A page that has loadModel. */
const html = `<!doctype html><title>page</title><script type="module" nonce="x">
  import { loadModel } from "./gpt2.js";
  globalThis.load = async (address, options) => {
    try {
      const model = await loadModel(address, { variant: "simd", cache: false, stallMs: 2000, ...options });
      await model.dispose();
      return "loaded";
    } catch ({ code, message }) {
      return code + ": " + message;
    }
  };
</script>`;

inBrowsers(engines, (tab, { name }) => {
  const isWebKit = name.startsWith("WebKit"); // it reports no violations to workers
  let host: FaultyHost;
  let hosts: TwoHosts;
  test.beforeEach(async () => {
    host = new FaultyHost({ isIsolated: false });
    hosts = new TwoHosts();
    await Promise.all([host.start(), hosts.start()]);
  });
  test.afterEach(async () => {
    hosts.stop();
    await host.stop();
  });

  /** How a load ends under the policies of the page and of every script. */
  async function load(policies: { page?: string; scripts?: string }, address: string, options: object = {}) {
    host.fault = (file, response) => {
      const isPage = file === "page.html";
      const policy = isPage ? policies.page : policies.scripts;
      if (policy) response.setHeader("Content-Security-Policy", policy);
      if (isPage) response.setHeader("Content-Type", "text/html").end(html);
      return isPage;
    };
    await tab.open(`${host.address}page.html`);
    type Load = (address: string, options: object) => Promise<string>;
    return tab.run(([url, more]) => (globalThis as unknown as { load: Load }).load(url, more), [
      address,
      options,
    ] as const);
  }
  const loadUnder = (policies: { page?: string; scripts?: string }) => load(policies, "/models/demo/");

  test("if the policy blocks the worker, the engine's import or its compilation, the error names the directive", async () => {
    for (const page of ["script-src 'nonce-x'", "worker-src 'none'"])
      expect(await loadUnder({ page }), page).toMatch(
        isWebKit
          ? /^unsupported: the engine needs a worker.*worker-src.*'self'/
          : /^unsupported: the page's Content-Security-Policy forbids the worker gpt2-worker.js: add 'self' to its worker-src$/,
      );
    const imported = await loadUnder({ scripts: "script-src 'wasm-unsafe-eval'" });
    if (!isWebKit) expect(imported).toContain("to script-src");
    expect(await loadUnder({ scripts: "script-src 'self'" })).toBe(
      "unsupported: the page's content security policy forbids WebAssembly: " +
        "add 'wasm-unsafe-eval' to the script-src of its Content-Security-Policy",
    );
  });

  test("if the policy blocks a request of the worker, the error names the directive and the host", async () => {
    const { origin } = new URL(host.address);
    const own = await loadUnder({ scripts: "connect-src 'none'" });
    const elsewhere = await load({ scripts: "connect-src 'self'" }, `${hosts.other}/m/`);
    expect(hosts.asked).toEqual([]);
    if (isWebKit) return;
    expect(own).toContain(`the Content-Security-Policy forbids it. Add ${origin}, and each host`);
    expect(elsewhere).toContain(`the Content-Security-Policy forbids it. Add ${hosts.other}, and each host`);
    for (const said of [own, elsewhere]) expect(said).toMatch(/^network: cannot fetch .* to connect-src$/);
  });

  test("headers for a model are sent only to its own host", async () => {
    hosts.answers["*"] = redirectTo(`${hosts.other}/m`);
    const both = { Authorization: "Bearer t", "X-Api-Key": "k" };
    expect(await load({}, `${hosts.own}/m/`, { headers: both })).toContain(
      "the host redirects, and a browser",
    );
    expect(hosts.asked.every(({ host: asked }) => asked === "own")).toBe(true);
    expect(hosts.asked[0]?.headers).toMatchObject({ authorization: "Bearer t", "x-api-key": "k" });
    await load({}, `${hosts.own}/m/`, { headers: { Authorization: "Bearer t" } });
    const others = hosts.asked.filter(({ host: asked }) => asked === "other");
    expect(others.length).toBeGreaterThan(0);
    for (const { headers } of others) expect(headers.authorization).toBeUndefined();
  });
});
