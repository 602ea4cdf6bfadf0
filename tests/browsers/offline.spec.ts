// gpt2.bundle.js without a folder, the page in one file without a host, and the stored page without network.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import { within, type Browser } from "./browser.js";
import { cases } from "./cases.js";
import { serve, type StaticHost } from "./static-host.js";
import { until } from "./until.js";

const root = resolve(import.meta.dirname, "../..");
const demo = resolve(root, "web/models/demo");
const patienceMs = 60_000;
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
  const program = resolve(root, "build/native/weights_tools/gpt2-weights");
  const options = ["--max-new-tokens", String(tokens), "--seed", String(seed), "--json"];
  const native = (...more: string[]) => {
    const args = ["generate", demo, "--prompt", prompt, ...options, ...more];
    return (JSON.parse(execFileSync(program, args, { encoding: "utf8" })) as { text: string }).text;
  };
  expected = native();
  expectedOfPage = native("--heal");
});
test.afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([cdn, isolated, plain].map((host) => host.close()));
});

interface Written {
  origin: string;
  variant: string;
  threads: number;
  text: string;
}

/** An expression for the text that a page has written with the bundle, as JSON. */
const write = (threads: number) => `(async () => {
  const { loadModel } = await import("${cdn.origin}/gpt2.bundle.js");
  const model = await loadModel("${cdn.origin}/models/demo/", { threads: ${threads} });
  const { text } = await model.complete("${prompt}", { maxNewTokens: ${tokens}, seed: ${seed} });
  const { variant, threads } = model.info;
  await model.dispose();
  return JSON.stringify({ origin: self.origin, variant, threads, text });
})()`;

/** An expression for the value of `expression` in a sandboxed frame. */
function inFrame(expression: string): string {
  const script = `<script type="module">
    try { parent.postMessage({ value: await ${expression} }, "*"); }
    catch (error) { parent.postMessage({ error: String(error) }, "*"); }
  </script>`;
  return `new Promise((resolve, reject) => {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    frame.srcdoc = ${JSON.stringify(script).replaceAll("</", "<\\/")};
    addEventListener("message", ({ data }) => data.error ? reject(data.error) : resolve(data.value));
    document.body.append(frame);
  })`;
}

async function inPage(browser: Browser, url: string, expression: string): Promise<Written> {
  await browser.open(url);
  const answer = within(patienceMs, `the test in ${browser.name}`, browser.evaluate(expression));
  return JSON.parse(await answer) as Written;
}

test("the page in one file is hardly larger than its weights in base64", () => {
  const pieces = readdirSync(demo).filter((name) => name.startsWith("model.safetensors."));
  const weights = pieces.reduce((bytes, piece) => bytes + statSync(join(demo, piece)).size, 0);
  // The file contains page, editor, views, engine, and readers of other formats and tokenizers: nothing can be fetched.
  expect(statSync(file("a story.html")).size).toBeLessThan(1.02 * ((weights * 4) / 3 + 985_000));
});

for (const { name, launch, isolated: choice } of cases.filter((each) => !each.name.includes("shared"))) {
  test.describe.serial(name, () => {
    let browser: Browser;
    test.beforeAll(async () => void (browser = await launch()));
    test.afterAll(() => browser.close());

    test("the bundle runs on a page opened from disk, in a sandboxed frame, and with threads", async () => {
      const fromDisk = await inPage(browser, onDisk("blank.html"), write(2));
      expect(fromDisk.variant).toMatch(/^simd/);
      const sandboxed = await inPage(browser, `${plain.origin}/blank.html`, inFrame(write(1)));
      expect(sandboxed.origin).toBe("null");
      // Under WebDriver, Firefox sometimes hangs while a worker starts another worker.
      const threads = name === "Firefox" ? 1 : 2;
      const onHost = await inPage(browser, `${isolated.origin}/blank.html`, write(threads));
      expect(onHost.variant).toBe(choice.variant);
      expect(onHost.threads).toBe(Math.min(threads, choice.threads));
      expect([fromDisk, sandboxed, onHost].map(({ text }) => text)).toEqual(Array(3).fill(expected));
    });

    test("the page in one file opens from disk", async () => {
      await browser.open(onDisk("a story.html"));
      await until(browser, `document.getElementById("engine").textContent.includes("1 thread")`);
      const left = `Promise.resolve(String(document.querySelectorAll("script[data-file]").length))`;
      expect(await browser.evaluate(left)).toBe("0"); // its memory has been freed
      await until(browser, `document.querySelector("#editor .cm-content") !== null`);
      await browser.evaluate(
        `(async () => {
          const { view } = document.getElementById("editor");
          const insert = "${prompt}";
          const changes = { from: 0, to: view.state.doc.length, insert };
          view.dispatch({ changes, selection: { anchor: insert.length } });
          document.getElementById("option-maxNewTokens").value = "${tokens}";
          document.getElementById("option-seed").value = "${seed}";
          document.getElementById("generate").click();
          return "";
        })()`,
      );
      await until(browser, `document.getElementById("finish").textContent.includes("Finished")`);
      const shown = await browser.evaluate(
        `(async () => JSON.stringify({
          output: document.getElementById("editor").view.state.doc.toString(),
          asked: performance.getEntriesByType("resource")
            .map(({ name }) => name).filter((name) => !/^(blob|data):/.test(name)),
        }))()`,
      );
      expect(JSON.parse(shown)).toEqual({ output: prompt + expectedOfPage, asked: [] });
    });

    if (name === "Chromium") return; // tests/e2e/offline.spec.ts

    test("the page opens again after its host has gone", async () => {
      const host = await serve(false, { "/": resolve(root, "web/dist") });
      let isOpen = true;
      try {
        await browser.open(`${host.origin}/index.html?variant=simd`);
        await until(browser, `document.getElementById("offline").checkVisibility()`);
        await host.close();
        isOpen = false;
        await expect(fetch(host.origin)).rejects.toThrow();
        await browser.open(`${host.origin}/?variant=simd`);
        await until(browser, `document.getElementById("engine").textContent.includes("1 thread")`);
      } finally {
        if (isOpen) await host.close();
      }
    });
  });
}
