// gpt2.bundle.js without a folder, the page in one file without a host, and the stored page without network.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import type * as Gpt2 from "../../web/src/client/index.js";
import { demo, native, root } from "../e2e/model.js";
import { cases } from "./cases.js";
import { Desk } from "./desk.js";
import { serve, type StaticHost } from "./static-host.js";
import { inBrowsers } from "./tab.js";

const prompt = "The sea was";
const tokens = 30;
const seed = 9;

const folder = mkdtempSync(join(tmpdir(), "gpt2-offline-"));
const file = (name: string) => join(folder, name);
const onDisk = (name: string) => pathToFileURL(file(name)).href;

/** A CDN for pages of other origins, a host of pages with the headers of isolation, and one without. */
let cdn: StaticHost;
let isolated: StaticHost;
let plain: StaticHost;
let expected: string;
/** The same with token healing, which the page uses: it continues in the middle of a word. */
let expectedOfPage: string;

test.beforeAll(async () => {
  const mounts = { "/models/": resolve(root, "web/models"), "/": resolve(root, "build/package") };
  cdn = await serve(false, mounts, { open: true });
  isolated = await serve(true, {});
  plain = await serve(false, {});
  writeFileSync(file("blank.html"), "<!doctype html><meta charset=utf-8><title>a page on disk</title>");
  execFileSync("node", ["web/scripts/export.mjs", "--model", demo, "-o", file("a story.html")], {
    cwd: root,
  });
  const options = ["--max-new-tokens", String(tokens), "--seed", String(seed), "--json"];
  const text = (...more: string[]) =>
    (native("generate", demo, "--prompt", prompt, ...options, ...more) as { text: string }).text;
  expected = text();
  expectedOfPage = text("--heal");
});
test.afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([cdn, isolated, plain].map((host) => host.close()));
});

/** Writes in a page with the bundle of the host at `origin`. */
async function write({ origin, threads, text, call }: ReturnType<typeof asked>) {
  const { loadModel } = (await import(`${origin}/gpt2.bundle.js`)) as typeof Gpt2;
  const model = await loadModel(`${origin}/models/demo/`, { threads });
  const written = await model.complete(text, call);
  const { variant, threads: used } = model.info;
  await model.dispose();
  return { origin: self.origin, variant, threads: used, text: written.text };
}
const asked = (threads: number) => ({
  origin: cdn.origin,
  threads,
  text: prompt,
  call: { maxNewTokens: tokens, seed },
});

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

test("the page in one file is hardly larger than its weights in base64", () => {
  const pieces = readdirSync(demo).filter((name) => name.startsWith("model.safetensors."));
  const weights = pieces.reduce((bytes, piece) => bytes + statSync(join(demo, piece)).size, 0);
  // The file contains page, editor, views, engine, and readers of other formats and tokenizers: nothing can be fetched.
  expect(statSync(file("a story.html")).size).toBeLessThan(1.02 * ((weights * 4) / 3 + 985_000));
});

const unshared = cases.filter(({ name }) => !name.includes("shared"));
inBrowsers(unshared, (tab, { name, isolated: choice }) => {
  const desk = new Desk(tab);

  test("the bundle runs on a page opened from disk, in a sandboxed frame, and with threads", async () => {
    await tab.open(onDisk("blank.html"));
    const fromDisk = await tab.run(write, asked(2));
    expect(fromDisk.variant).toMatch(/^simd/);
    await tab.open(`${plain.origin}/blank.html`);
    const inside = `(${write.toString()})(${JSON.stringify(asked(1))})`;
    const sandboxed = await tab.run(inFrame<typeof fromDisk>, inside);
    expect(sandboxed.origin).toBe("null");
    // Under WebDriver, Firefox sometimes hangs while a worker starts another worker.
    const threads = name === "Firefox" ? 1 : 2;
    await tab.open(`${isolated.origin}/blank.html`);
    const onHost = await tab.run(write, asked(threads));
    expect(onHost.variant).toBe(choice.variant);
    expect(onHost.threads).toBe(Math.min(threads, choice.threads));
    expect([fromDisk, sandboxed, onHost].map(({ text }) => text)).toEqual(Array(3).fill(expected));
  });

  test("the page in one file opens from disk", async () => {
    await desk.open(onDisk("a story.html"));
    await desk.contains("#engine", "1 thread");
    expect(await tab.run(() => document.querySelectorAll("script[data-file]").length)).toBe(0); // its memory has been freed
    await desk.setOption("maxNewTokens", tokens);
    await desk.setOption("seed", seed);
    await desk.writeOn(prompt);
    expect(await desk.text()).toBe(prompt + expectedOfPage);
    const requests = await tab.run(() => performance.getEntriesByType("resource").map((entry) => entry.name));
    expect(requests.filter((address) => !/^(blob|data):/.test(address))).toEqual([]);
  });

  if (name === "Chromium") return; // tests/e2e/offline.spec.ts

  test("the page opens again after its host has gone", async () => {
    const host = await serve(false, { "/": resolve(root, "web/dist") });
    let isOpen = true;
    try {
      await tab.open(`${host.origin}/index.html?variant=simd`);
      await tab.until(() => document.getElementById("offline")?.checkVisibility());
      await host.close();
      isOpen = false;
      await expect(fetch(host.origin)).rejects.toThrow();
      await tab.open(`${host.origin}/?variant=simd`);
      await desk.contains("#engine", "1 thread");
    } finally {
      if (isOpen) await host.close();
    }
  });
});
