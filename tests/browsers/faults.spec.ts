// Faults of a host in the browsers that tests/e2e does not run in. Each browser handles a connection that breaks or stalls,
// a thread that traps and a cleared storage in its own way.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { FaultyHost } from "../e2e/faulty-host.js";
import { demo, native } from "../e2e/model.js";
import { trapInHelpers } from "../e2e/trap.js";
import { cases } from "./cases.js";
import { inBrowsers } from "./tab.js";

const prompt = "The old cat";
const call = { maxNewTokens: 8, temperature: 0 };

const file = "model.safetensors.001";
const piece = readFileSync(resolve(demo, file));
/** The bytes of the file that arrive before a cut or a stall. */
const begun = 2_000_000;

interface Found {
  /** The text, or the error. */
  end: string;
  retries: string[];
  sources: string[];
}

let expected: string;
test.beforeAll(() => {
  const options = ["--max-new-tokens", String(call.maxNewTokens), "--temperature", "0", "--json"];
  expected = (native("generate", demo, "--prompt", prompt, ...options) as { text: string }).text;
});

const others = cases.filter(({ name }) => !/Chromium|shared/.test(name));
inBrowsers(others, (tab, { isolated }) => {
  let host: FaultyHost;
  test.beforeEach(async () => {
    host = new FaultyHost();
    await host.start();
    await tab.open(host.page);
  });
  test.afterEach(() => host.stop());

  /** Loads the demo model with `options`, and writes. */
  const write = (options: object = {}): Promise<Found> =>
    tab.withModule(
      async ({ loadModel }, [text, limits, load, missing]) => {
        const retries = new Set<string>();
        const sources = new Set<string>();
        let end: string;
        try {
          const model = await loadModel("/models/demo/", {
            variant: "simd",
            ...load,
            onProgress({ loadedBytes, totalBytes, retry, source, stage }) {
              // A browser drops the bytes of a broken connection that nobody has read yet.
              if (totalBytes - loadedBytes === missing) void fetch("/break");
              if (retry !== undefined) retries.add(retry);
              if (stage === "download") sources.add(source);
            },
          });
          end = (await model.complete(text, limits)).text;
          await model.dispose();
        } catch (error) {
          end = String(error);
        }
        return { end, retries: [...retries], sources: [...sources] };
      },
      // A page lacks this much when it has read all other files and the begun part of this one.
      [prompt, call, options, piece.length - begun] as const,
    );

  for (const fault of ["a cut connection", "a stall"]) {
    test(`a load survives ${fault}, and continues where it stopped`, async () => {
      const ranges: (string | undefined)[] = [];
      let broken: ServerResponse | undefined;
      let isCut = false;
      host.fault = (asked, response) => {
        if (asked === "break") {
          isCut = fault === "a cut connection" && broken !== undefined;
          if (isCut) broken?.destroy();
          response.writeHead(204).end();
          return true;
        }
        if (!asked.endsWith(file)) return false;
        ranges.push(response.req.headers.range);
        if (broken) return false;
        broken = response;
        response.writeHead(200, { "Content-Length": piece.length });
        response.write(piece.subarray(0, begun));
        return true;
      };
      const { end, retries } = await write({ cache: false, stallMs: 2000 });
      expect(end).toBe(expected);
      expect(isCut).toBe(fault === "a cut connection");
      expect(retries.length).toBeGreaterThan(0);
      expect(ranges).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d+-$/)]);
    });
  }

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
    /** Under WebDriver, WebKitGTK keeps caches in memory, and only those that a page uses. */
    const holdCache = () =>
      tab.run(async () => void Object.assign(globalThis, { held: await caches.open("gpt2-wasm-store") }));
    const stored = () =>
      tab.withModule(async ({ listModels, storage }) => {
        const models = (await listModels()).map(({ isComplete }) => isComplete);
        return { models, bytes: (await storage()).modelBytes };
      });
    await holdCache();
    expect((await write()).end).toBe(expected);
    expect(await stored()).toMatchObject({ models: [true] });
    host.answer(/^clear$/, (response) => {
      response.writeHead(200, { "Clear-Site-Data": '"storage"' }).end();
    });
    await tab.run(async () => (await fetch("/clear")).text());
    expect(await stored()).toEqual({ models: [], bytes: 0 });
    await holdCache();
    expect(await write()).toMatchObject({ end: expected, sources: ["network"] });
    expect((await write()).sources).toContain("cache");
  });
});
