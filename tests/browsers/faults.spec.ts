// In the browsers that tests/e2e does not run in: a load that is aborted, and a thread that traps. In every browser: a host
// that has gone, and a storage that is cleared.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { FaultyHost } from "../e2e/faulty-host.js";
import { demo, prompt } from "../e2e/model.js";
import { trapInHelpers } from "../e2e/trap.js";
import { engines, otherEngines } from "./cases.js";
import { inBrowsers } from "./tab.js";

inBrowsers(otherEngines, (tab, { isolated }) => {
  let host: FaultyHost;
  test.beforeEach(async () => {
    host = new FaultyHost();
    await host.start();
    await tab.open(host.page);
  });
  test.afterEach(() => host.stop());

  test("a load that is aborted during a download rejects with the reason, and ends its request", async () => {
    const file = "models/demo/model.safetensors.001";
    const piece = readFileSync(resolve(demo, "model.safetensors.001"));
    host.fault = (name, response) => {
      if (name !== file) return false;
      response.writeHead(200, { "Content-Length": piece.length });
      response.write(piece.subarray(0, 2_000_000));
      return true;
    };
    // A page lacks this much when it has read all other files and the begun part of this one.
    const missing = piece.length - 2_000_000;
    const end = await tab.withModule(({ loadModel }, left) => {
      const controller = new AbortController();
      const load = loadModel("/models/demo/", {
        variant: "simd",
        cache: false,
        signal: controller.signal,
        onProgress({ totalBytes, loadedBytes }) {
          if (totalBytes - loadedBytes === left) controller.abort(new Error("enough"));
        },
      });
      return load.then(() => "it was loaded", String);
    }, missing);
    expect(end).toBe("Error: enough");
    await expect.poll(() => [...host.open]).toEqual([]);
  });

  test("a helper thread that traps ends the running request", async () => {
    test.skip(isolated.threads === 1, "has no helper threads");
    host.prepend(`engine/gpt2-${isolated.variant}.js`, trapInHelpers);
    const end = await tab.repeatHangs(async () => {
      await tab.open(host.page);
      return tab.withModule(async ({ loadModel }, text) => {
        const model = await loadModel("/models/demo/", { threads: 2 });
        const endless = model.complete(text, { maxNewTokens: 1e6, ignoreEos: true });
        return endless.then(
          () => "done",
          ({ code }: { code: string }) => code,
        );
      }, prompt);
    });
    expect(end).toBe("worker-died");
  });
});

inBrowsers(engines, (tab, { store }) => {
  test("a stored model loads without its host, and once it was removed or the site's data cleared, not any more", async () => {
    const host = new FaultyHost();
    await host.start();
    let isGone = false;
    host.fault = (name, response) => {
      const isClear = name === "clear";
      if (isClear) response.writeHead(200, { "Clear-Site-Data": '"storage"' }).end();
      else if (isGone && name.startsWith("models/")) response.destroy();
      else return false;
      return true;
    };
    /** Under WebDriver, WebKitGTK keeps caches in memory, and only those that a page uses. */
    const holdCache = () =>
      tab.run(async () => void Object.assign(globalThis, { held: await caches.open("gpt2-wasm-store") }));
    /** Loads the model, and returns where its files came from, or the code of an error. */
    const load = () =>
      tab.withModule(async ({ loadModel }) => {
        const sources = new Set<string>();
        try {
          const model = await loadModel("/models/demo/", {
            variant: "simd",
            onProgress({ stage, source }) {
              if (stage === "download") sources.add(source);
            },
          });
          await model.dispose();
          return `from ${[...sources].join()}, not stored: ${model.info.notStored}`;
        } catch (error) {
          return (error as { code: string }).code;
        }
      });
    const stored = () =>
      tab.withModule(async ({ listModels, storage }) => {
        const models = (await listModels()).map(({ isComplete }) => isComplete);
        const { kind, modelBytes } = await storage();
        return { kind, models, isEmpty: modelBytes === 0 };
      });
    const empty = { kind: store, models: [], isEmpty: true };
    try {
      await tab.open(host.page);
      for (const remove of [
        () => tab.withModule(({ removeModel }) => removeModel("/models/demo/")),
        () => tab.run(async () => (await fetch("/clear")).text()),
      ]) {
        isGone = false;
        await holdCache();
        expect(await load()).toBe("from network, not stored: null");
        isGone = true;
        expect(await load()).toContain("cache, not stored: null");
        expect(await stored()).toEqual({ kind: store, models: [true], isEmpty: false });
        await remove();
        expect(await stored()).toEqual(empty);
        expect(await load()).toBe("network");
      }
    } finally {
      await host.stop();
    }
  });
});
