// Content security policies, in every browser: the error names the directive, and headers for a model go only to its host.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import sirv from "sirv";
import { redirectTo, TwoHosts } from "../web/support/two-hosts.js";
import { cases } from "./cases.js";
import { inBrowsers } from "./tab.js";

const files = sirv(resolve(import.meta.dirname, "../../web/dist"), { dev: true });

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

/** The policies of the page, and of every script. */
const policies = { page: "", scripts: "" };
/** Serves the built package, and the page. */
const server = createServer((request, response) => {
  const isPage = request.url === "/page.html";
  const policy = isPage ? policies.page : policies.scripts;
  if (policy) response.setHeader("Content-Security-Policy", policy);
  if (!isPage) return files(request, response, () => void response.writeHead(404).end());
  response.setHeader("Content-Type", "text/html");
  response.end(html);
});
let origin: string;
test.beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "localhost", listening));
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
});
test.afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const unshared = cases.filter(({ name }) => !name.includes("shared"));
inBrowsers(unshared, (tab, { name }) => {
  const isWebKit = name.startsWith("WebKit");
  let hosts: TwoHosts;
  test.beforeEach(async () => {
    Object.assign(policies, { page: "", scripts: "" });
    hosts = await new TwoHosts().start();
  });
  test.afterEach(() => hosts.stop());

  type Load = (address: string, options: object) => Promise<string>;
  const load = async (address = "/models/demo/", options: object = {}) => {
    await tab.open(`${origin}/page.html`);
    return tab.run(([url, more]) => (globalThis as unknown as { load: Load }).load(url, more), [
      address,
      options,
    ] as const);
  };

  test("if the page's policy blocks a worker, the error names the directive", async () => {
    for (const policy of ["script-src 'nonce-x'", "worker-src 'none'"]) {
      policies.page = policy;
      expect(await load(), policy).toMatch(
        isWebKit
          ? /^unsupported: the engine needs a worker.*worker-src.*'self'/
          : /^unsupported: the page's Content-Security-Policy forbids the worker gpt2-worker.js: add 'self' to its worker-src$/,
      );
    }
  });

  test("if the page's policy blocks a request of the worker, the error names the directive", async () => {
    policies.scripts = "connect-src 'none'";
    const own = await load();
    policies.scripts = "connect-src 'self'";
    const elsewhere = await load(`${hosts.other}/m/`);
    expect(hosts.asked).toEqual([]);
    if (isWebKit) return; // WebKit does not report violations to workers
    expect(own).toContain(`the Content-Security-Policy forbids it. Add ${origin}, and each host`);
    expect(elsewhere).toContain(`the Content-Security-Policy forbids it. Add ${hosts.other}, and each host`);
    for (const said of [own, elsewhere]) expect(said).toMatch(/^network: cannot fetch .* to connect-src$/);
  });

  test("if the page's policy blocks the engine's import or compilation, the error names the directive", async () => {
    policies.scripts = "script-src 'wasm-unsafe-eval'";
    const imported = await load();
    if (!isWebKit) expect(imported).toContain("to script-src");
    policies.scripts = "script-src 'self'";
    expect(await load()).toBe(
      "unsupported: the page's content security policy forbids WebAssembly: " +
        "add 'wasm-unsafe-eval' to the script-src of its Content-Security-Policy",
    );
  });

  test("headers for a model are sent only to its own host", async () => {
    hosts.answers["*"] = redirectTo(`${hosts.other}/m`);
    const both = { Authorization: "Bearer t", "X-Api-Key": "k" };
    expect(await load(`${hosts.own}/m/`, { headers: both })).toContain("the host redirects, and a browser");
    expect(hosts.asked.every(({ host: asked }) => asked === "own")).toBe(true);
    expect(hosts.asked[0]?.headers).toMatchObject({ authorization: "Bearer t", "x-api-key": "k" });
    await load(`${hosts.own}/m/`, { headers: { Authorization: "Bearer t" } });
    const others = hosts.asked.filter(({ host: asked }) => asked === "other");
    expect(others.length).toBeGreaterThan(0);
    for (const { headers } of others) expect(headers.authorization).toBeUndefined();
  });
});
