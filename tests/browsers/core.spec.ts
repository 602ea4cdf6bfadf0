// The module in every browser. It writes the native engine's tokens in each of its builds, on hosts with and without the
// headers that threads need. As a bundle, it also runs where there is no folder. A broken load from the Hub continues.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import type * as Gpt2 from "../../web/src/client/index.js";
import { demo, native, prompt, root } from "../e2e/model.js";
import { StandInHub } from "../weights_tools/stand-in-hub.js";
import { cases } from "./cases.js";
import { serve, type StaticHost } from "./static-host.js";
import { inBrowsers } from "./tab.js";

const call = { maxNewTokens: 40, seed: 7 };
const options = ["--json", "--max-new-tokens", String(call.maxNewTokens), "--seed", String(call.seed)];
let expected: { ids: number[]; text: string; finish_reason: string };

let isolated: StaticHost;
let plain: StaticHost;
const folder = mkdtempSync(join(tmpdir(), "gpt2-core-"));
test.beforeAll(async () => {
  expected = native("generate", demo, "--prompt", prompt, ...options) as typeof expected;
  writeFileSync(
    join(folder, "page.html"),
    "<!doctype html><meta charset=utf-8><title>a page on disk</title>",
  );
  const folders = { "/": resolve(root, "web/dist") };
  [isolated, plain] = await Promise.all([serve(true, folders), serve(false, folders)]);
});
test.afterAll(() => {
  rmSync(folder, { recursive: true });
  return Promise.all([isolated.close(), plain.close()]);
});

/** Writes in a page with the bundle of the host at `origin`. */
async function writeWithBundle({ origin, threads, text, limits }: ReturnType<typeof asked>) {
  const { loadModel } = (await import(`${origin}/gpt2.bundle.js`)) as typeof Gpt2;
  const model = await loadModel(`${origin}/models/demo/`, { threads });
  const written = await model.complete(text, limits);
  const { variant, threads: used } = model.info;
  await model.dispose();
  return { origin: self.origin, variant, threads: used, text: written.text };
}
const asked = (origin: string, threads: number) => ({ origin, threads, text: prompt, limits: call });

/** Runs the expression `source` in a sandboxed frame, and returns its value. */
function inFrame<T>(source: string): Promise<T> {
  const script = `<script type="module">
    try { parent.postMessage({ value: await ${source} }, "*"); }
    catch (error) { parent.postMessage({ error: String(error) }, "*"); }
  </script>`;
  return new Promise((resolve, reject) => {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.srcdoc = script;
    addEventListener("message", ({ data }) => (data.error ? reject(data.error) : resolve(data.value)));
    document.body.append(frame);
  });
}

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

  if (name.includes("shared")) return; // one WebKit is enough

  test("the bundle runs on a page opened from disk, in a sandboxed frame, and with threads", async () => {
    const mounts = { "/models/": resolve(root, "web/models"), "/": resolve(root, "build/package") };
    const cdn = await serve(false, mounts, { open: true });
    // Under WebDriver, Firefox sometimes hangs while a worker starts another worker.
    const threads = name === "Firefox" ? 1 : 2;
    try {
      await tab.open(pathToFileURL(join(folder, "page.html")).href);
      const fromDisk = await tab.run(writeWithBundle, asked(cdn.origin, 2));
      expect(fromDisk.variant).toMatch(/^simd/);
      await tab.open(`${plain.origin}/blank.html`);
      const inside = `(${writeWithBundle.toString()})(${JSON.stringify(asked(cdn.origin, 1))})`;
      const sandboxed = await tab.run(inFrame<typeof fromDisk>, inside);
      expect(sandboxed.origin).toBe("null");
      await tab.open(`${isolated.origin}/blank.html`);
      const onHost = await tab.run(writeWithBundle, asked(cdn.origin, threads));
      expect(onHost.variant).toBe(choices.isolated.variant);
      expect(onHost.threads).toBe(Math.min(threads, choices.isolated.threads));
      expect([fromDisk, sandboxed, onHost].map(({ text }) => text)).toEqual(Array(3).fill(expected.text));
    } finally {
      await cdn.close();
    }
  });

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
