// gpt2.bundle.js from another origin: on pages of a disk, in frames without an origin, and with threads.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import { within, type Browser } from "./browser.js";
import { cases } from "./cases.js";
import { serve, type StaticHost } from "./static-host.js";

const root = resolve(import.meta.dirname, "../..");
const patienceMs = 60_000;
const folder = mkdtempSync(join(tmpdir(), "gpt2-bundle-"));
const page = join(folder, "page.html");
writeFileSync(page, "<!doctype html><meta charset=utf-8><title>a page on a disk</title>");

let cdn: StaticHost;
let isolated: StaticHost;
let plain: StaticHost;
test.beforeAll(async () => {
  cdn = await serve(
    false,
    { "/models/": resolve(root, "web/models"), "/": resolve(root, "build/package") },
    { open: true },
  );
  isolated = await serve(true, {});
  plain = await serve(false, {});
});
test.afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([cdn.close(), isolated.close(), plain.close()]);
});

interface Found {
  origin: string;
  variant: string;
  threads: number;
  text: string;
}

/** An expression for what a page has written with the bundle, as JSON. */
const write = (threads: number) => `(async () => {
  const { loadModel } = await import("${cdn.origin}/gpt2.bundle.js");
  const model = await loadModel("${cdn.origin}/models/demo/", { threads: ${threads} });
  const { text } = await model.complete("The sea was", { maxNewTokens: 12, seed: 5 });
  const { variant, threads } = model.info;
  await model.dispose();
  return JSON.stringify({ origin: self.origin, variant, threads, text });
})()`;

async function inPage(browser: Browser, url: string, expression: string): Promise<Found> {
  await browser.open(url);
  return JSON.parse(
    await within(patienceMs, `the test in ${browser.name}`, browser.evaluate(expression)),
  ) as Found;
}

/** An expression for what a sandboxed frame gives for \`expression\`. */
const inFrame = (expression: string) => `new Promise((resolve, reject) => {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.srcdoc = ${JSON.stringify(
    `<script type="module">
    try { parent.postMessage({ value: await ${expression} }, "*"); }
    catch (error) { parent.postMessage({ error: String(error) }, "*"); }
  </script>`,
  ).replaceAll("</", "<\\/")};
  addEventListener("message", ({ data }) => data.error ? reject(data.error) : resolve(data.value));
  document.body.append(frame);
})`;

for (const { name, launch, isolated: choice } of cases.filter((each) => !each.name.includes("shared"))) {
  test(`${name} runs the bundle on a page of a disk, in a sandboxed frame, and with threads`, async () => {
    const browser = await launch();
    try {
      const onDisk = await inPage(browser, pathToFileURL(page).href, write(2));
      const inSandbox = await inPage(browser, `${plain.origin}/blank.html`, inFrame(write(1)));
      // Driven as it is here, Firefox at times hangs while a worker starts another.
      const threads = name === "Firefox" ? 1 : 2;
      const isIsolated = await inPage(browser, `${isolated.origin}/blank.html`, write(threads));
      expect(onDisk.variant).toMatch(/^simd/);
      expect(inSandbox.origin).toBe("null");
      expect(isIsolated.variant).toBe(choice.variant);
      expect(isIsolated.threads).toBe(Math.min(threads, choice.threads));
      expect(onDisk.text.length).toBeGreaterThan(20);
      expect([inSandbox.text, isIsolated.text]).toEqual([onDisk.text, onDisk.text]);
    } finally {
      await browser.close();
    }
  });
}
