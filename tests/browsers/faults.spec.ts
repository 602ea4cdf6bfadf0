// A load that is aborted, a thread that traps and a storage that is cleared, in the browsers that tests/e2e does not run in.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { FaultyHost } from "../e2e/faulty-host.js";
import { demo, prompt } from "../e2e/model.js";
import { trapInHelpers } from "../e2e/trap.js";
import { otherEngines } from "./cases.js";
import { holdCache, inBrowsers } from "./tab.js";

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

  test("after the site's data is cleared, an open page loads and stores again", async () => {
    /** Loads the model, and returns the places that it came from. */
    const load = () =>
      tab.withModule(async ({ loadModel }) => {
        const sources = new Set<string>();
        const model = await loadModel("/models/demo/", {
          variant: "simd",
          onProgress: ({ stage, source }) => void (stage === "download" && sources.add(source)),
        });
        await model.dispose();
        return [...sources];
      });
    const stored = () =>
      tab.withModule(async ({ listModels, storage }) => {
        const models = (await listModels()).map(({ isComplete }) => isComplete);
        return { models, bytes: (await storage()).modelBytes };
      });
    await holdCache(tab);
    await load();
    expect(await stored()).toMatchObject({ models: [true] });
    host.answer(/^clear$/, (response) => {
      response.writeHead(200, { "Clear-Site-Data": '"storage"' }).end();
    });
    await tab.run(async () => (await fetch("/clear")).text());
    expect(await stored()).toEqual({ models: [], bytes: 0 });
    await holdCache(tab);
    expect(await load()).toEqual(["network"]);
    expect(await load()).toContain("cache");
  });
});
