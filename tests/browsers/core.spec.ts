// The module in every browser. Each of its builds writes the native engine's tokens, on hosts with and without the headers
// that threads need. The module also loads from another origin. A broken load from the Hub continues.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import type * as Gpt2 from "../../web/src/client/index.js";
import { demo, native, prompt, root } from "../e2e/model.js";
import { StandInHub } from "../weights_tools/stand-in-hub.js";
import { cases } from "./cases.js";
import { isolation, serve, shared, type StaticHost } from "./static-host.js";
import { inBrowsers } from "./tab.js";

const call = { maxNewTokens: 40, seed: 7 };
const options = ["--json", "--max-new-tokens", String(call.maxNewTokens), "--seed", String(call.seed)];
let expected: { ids: number[]; text: string; finish_reason: string };

let isolated: StaticHost;
let plain: StaticHost;
/** A host that shares the package with pages of every origin. */
let cdn: StaticHost;
const onDisk = resolve(root, "build/page-on-disk.html");
test.beforeAll(async () => {
  expected = native("generate", demo, "--prompt", prompt, ...options) as typeof expected;
  writeFileSync(onDisk, "<!doctype html><meta charset=utf-8><title>a page on disk</title>");
  const folders = { "/": resolve(root, "web/dist") };
  const packed = { "/models/": resolve(root, "web/models"), "/": resolve(root, "build/package") };
  [isolated, plain, cdn] = await Promise.all([
    serve(folders, isolation),
    serve(folders),
    serve(packed, shared),
  ]);
});
test.afterAll(() => Promise.all([isolated, plain, cdn].map((host) => host.close())));

inBrowsers(cases, (tab, { name, ...choices }) => {
  for (const where of ["isolated", "plain"] as const) {
    const { variant, threads, notice } = choices[where];

    test(`the native engine's tokens, also after an abort, on a host ${where === "plain" ? "without" : "with"} headers, as ${variant}`, async () => {
      const host = where === "isolated" ? isolated : plain;
      const found = await tab.repeatHangs(async () => {
        await tab.open(`${host.origin}/blank.html`);
        return tab.withModule(
          async ({ loadModel }, [text, limits]) => {
            const model = await loadModel("/models/demo/", { threads: 2 });
            const controller = new AbortController();
            const endless = { maxNewTokens: 4000, ignoreEos: true, signal: controller.signal };
            let count = 0;
            let reason = "none";
            try {
              for await (const _ of model.generate(text, endless))
                if (++count === 3) controller.abort(new Error("enough"));
            } catch (error) {
              reason = String(error);
            }
            const { tokens, finishReason } = await model.complete(text, limits);
            const { info } = model;
            await model.dispose();
            return { info, count, reason, ids: tokens.map(({ id }) => id), finish_reason: finishReason };
          },
          [prompt, call] as const,
        );
      });
      const { ids, finish_reason } = expected;
      expect(found).toMatchObject({ count: 3, reason: "Error: enough", ids, finish_reason });
      expect(found.info).toMatchObject({ variant, threads });
      if (notice) expect(found.info.notice).toMatch(notice);
      else expect(found.info.notice).toBeNull();
    });
  }

  /** What a page at `address` writes with a module of the host that shares its files. */
  const writtenWith = (file: string, address: string) =>
    tab.repeatHangs(async () => {
      await tab.open(address);
      return tab.run(
        async ([origin, module, text, limits]) => {
          const { loadModel } = (await import(`${origin}/${module}`)) as typeof Gpt2;
          const model = await loadModel(`${origin}/models/demo/`, { threads: 2 });
          const story = await model.complete(text, limits);
          const { variant } = model.info;
          await model.dispose();
          return { variant, text: story.text };
        },
        [cdn.origin, file, prompt, call] as const,
      );
    });
  const { variant: fastest, threads: most } = choices.isolated;

  test("the module has threads from another origin, and if only the document has the headers", async () => {
    test.skip(most === 1, "has no threads");
    const written = { variant: fastest, text: expected.text };
    expect(await writtenWith("gpt2.js", `${isolated.origin}/blank.html`)).toEqual(written);
    cdn.page = isolation;
    expect(await writtenWith("gpt2.js", cdn.origin)).toEqual(written);
  });

  test("the bundle runs on a page opened from disk, and in a sandbox", async () => {
    test.skip(name.includes("shared"), "one WebKit is enough");
    const written = { variant: choices.plain.variant, text: expected.text };
    expect(await writtenWith("gpt2.bundle.js", pathToFileURL(onDisk).href)).toEqual(written);
    cdn.page = { "Content-Security-Policy": "sandbox allow-scripts" };
    expect(await writtenWith("gpt2.bundle.js", cdn.origin)).toEqual(written);
  });

  test("isolate.js isolates a page without headers", async () => {
    test.skip(most === 1, "has no threads");
    cdn.page = {}; // its service worker isolates every page of this host from now on
    await tab.open(cdn.origin);
    await tab.withModule(async ({ isolate }) => void isolate("/isolate.js"));
    // While the page is reloaded, Firefox has an empty one in its place, which is isolated already.
    await tab.until(() => crossOriginIsolated && location.protocol === "http:");
    expect(await writtenWith("gpt2.js", cdn.origin)).toEqual({ variant: fastest, text: expected.text });
  });

  if (name.includes("shared")) return; // one WebKit is enough

  test("a broken load from the Hub continues without a preflight", async () => {
    const hub = new StandInHub();
    for (const file of readdirSync(demo)) hub.files[file] = readFileSync(resolve(demo, file));
    const weights = hub.files["model.safetensors.001"] ?? Buffer.alloc(0);
    let breaks = 0;
    hub.fault = (file, response) => {
      if (file !== "model.safetensors.001" || response.req.headers.range || breaks === 3) return false;
      breaks += 1; // a busy browser that read nothing yet asks for the whole file again
      response.writeHead(200, { "Content-Length": weights.length });
      response.write(weights.subarray(0, 1_000_000), () => setTimeout(() => response.destroy(), 1500));
      return true;
    };
    const origin = await hub.start();
    try {
      await tab.open(`${isolated.origin}/blank.html`);
      const found = await tab.withModule(
        async ({ loadModel }, [hub, text, limits]) => {
          const model = await loadModel("user/tale", { variant: "simd", cache: false, hub });
          const written = await model.complete(text, limits);
          await model.dispose();
          return written.text;
        },
        [origin, prompt, call] as const,
      );
      expect(found).toBe(expected.text);
      expect(hub.asked.some(({ host, range }) => host === "store" && range !== undefined)).toBe(true);
      expect(hub.preflights).toBe(0);
    } finally {
      hub.stop();
    }
  });
});
