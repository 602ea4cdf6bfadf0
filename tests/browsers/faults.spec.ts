// Faults of a host in the browsers that tests/e2e does not run in. Each browser handles a connection that breaks, stalls
// or brings other bytes in its own way.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { FaultyHost } from "../e2e/faulty-host.js";
import { trapInHelpers } from "../e2e/trap.js";
import { within, type Browser } from "./browser.js";
import { cases } from "./cases.js";
import { serve } from "./static-host.js";

const root = resolve(import.meta.dirname, "../..");
const demo = resolve(root, "web/models/demo");
const patienceMs = 60_000;
const prompt = "The old cat";
const call = { maxNewTokens: 8, temperature: 0 };

const file = "model.safetensors.001";
const piece = readFileSync(resolve(demo, file));
const flipped = Buffer.from(piece);
flipped[1000] = (flipped[1000] ?? 0) ^ 1;

/** The bytes of the file that arrive before a cut or a stall. */
const begun = 2_000_000;
const begin = (response: ServerResponse) => {
  response.writeHead(200, { "Content-Length": piece.length });
  response.write(piece.subarray(0, begun));
};
/** Temporary faults: the next answer is correct. */
const passing: Record<string, (response: ServerResponse) => void> = {
  "a cut": begin, // the page says when to break the connection, see `missing`
  "a stall": begin,
  "503 with Retry-After": (response) => void response.writeHead(503, { "Retry-After": "1" }).end(),
  "a flipped bit": (response) => void response.end(flipped),
};

interface Found {
  /** The text, or the error. */
  end: string;
  retries: string[];
  sources: string[];
}

/** The bytes that a page lacks when it has read all other files and the begun part of this one. */
const missing = piece.length - begun;

/** An expression for the result of a load of the model at `address`. */
const write = (address: string, options: object) => `(async () => {
  const { loadModel } = await import("/gpt2.js");
  const retries = new Set();
  const sources = new Set();
  let end;
  try {
    const model = await loadModel(${JSON.stringify(address)}, {
      variant: "simd",
      ...${JSON.stringify(options)},
      onProgress({ loadedBytes, totalBytes, retry, source, stage }) {
        // A browser drops the bytes of a broken connection that nobody has read yet.
        if (totalBytes - loadedBytes === ${missing}) void fetch("/break");
        if (retry !== undefined) retries.add(retry);
        if (stage === "download") sources.add(source);
      },
    });
    end = (await model.complete(${JSON.stringify(prompt)}, ${JSON.stringify(call)})).text;
    await model.dispose();
  } catch (error) {
    end = error.code + ": " + error.message;
  }
  return JSON.stringify({ end, retries: [...retries], sources: [...sources] });
})()`;

/** An expression for the stored models, after `gpt2` has done `change`. */
const stored = (change = "undefined") => `(async () => {
  const gpt2 = await import("/gpt2.js");
  const changed = await ${change};
  const models = (await gpt2.listModels()).map(({ isComplete }) => ({ isComplete }));
  return JSON.stringify({ changed, models, bytes: (await gpt2.storage()).modelBytes });
})()`;

/** A time that is longer than the engine's threads ever take to start. */
const hangMs = 15_000;

/** The outcome of a long text with two threads; "hangs" if they do not start (see `mostHangs` of cases.ts). */
const writeWithThreads = `(async () => {
  const { loadModel } = await import("/gpt2.js");
  const late = new Promise((resolve) => setTimeout(resolve, ${hangMs}));
  const model = await Promise.race([loadModel("/models/demo/", { threads: 2 }), late]);
  if (!model) return "hangs";
  const call = { maxNewTokens: 1e6, ignoreEos: true };
  return model.complete(${JSON.stringify(prompt)}, call).then(() => "done", ({ code }) => code);
})()`;

let expected: string;
test.beforeAll(() => {
  const program = resolve(root, "build/native/weights_tools/gpt2-weights");
  const options = ["--max-new-tokens", String(call.maxNewTokens), "--temperature", "0", "--json"];
  const native = execFileSync(program, ["generate", demo, "--prompt", prompt, ...options], {
    encoding: "utf8",
  });
  expected = (JSON.parse(native) as { text: string }).text;
});

for (const { name, launch, isolated, mostHangs } of cases.filter(
  (each) => !/Chromium|shared/.test(each.name),
)) {
  test.describe.serial(name, () => {
    let browser: Browser;
    let host: FaultyHost;
    test.beforeAll(async () => void (browser = await launch()));
    test.afterAll(() => browser.close());
    test.beforeEach(async () => {
      host = new FaultyHost();
      await host.start();
      await browser.open(host.page);
    });
    test.afterEach(() => host.stop());

    const find = async (address: string, options: object) => {
      const answer = within(patienceMs, `a load in ${name}`, browser.evaluate(write(address, options)));
      return JSON.parse(await answer) as Found;
    };

    /** Under WebDriver, WebKitGTK keeps caches in memory, and only those that a page uses. */
    const holdCache = () =>
      browser.evaluate(`caches.open("gpt2-wasm-store").then((cache) => ((globalThis.held = cache), ""))`);

    test("a load survives a cut connection, a stall, a busy host and a flipped bit", async () => {
      for (const [fault, answer] of Object.entries(passing)) {
        const ranges: (string | undefined)[] = [];
        let broken: ServerResponse | undefined;
        let isCut = false;
        host.fault = (asked, response) => {
          if (asked === "break") {
            if (fault === "a cut" && broken) {
              broken.destroy();
              isCut = true;
            }
            response.writeHead(204).end();
            return true;
          }
          if (!asked.endsWith(file)) return false;
          ranges.push(response.req.headers.range);
          if (ranges.length > 1) return false;
          broken = response;
          answer(response);
          return true;
        };
        const { end, retries } = await find("/models/demo/", { cache: false, stallMs: 2000 });
        expect(end, fault).toBe(expected);
        expect(isCut, fault).toBe(fault === "a cut");
        expect(ranges, fault).toHaveLength(2);
        if (fault === "a flipped bit") continue; // a flipped bit needs no new connection
        expect(retries.length, fault).toBeGreaterThan(0);
        const isHalfway = fault === "a cut" || fault === "a stall";
        expect(ranges[1], fault).toEqual(isHalfway ? expect.stringMatching(/^bytes=[1-9]\d+-$/) : undefined);
      }
    });

    test("a helper thread that traps ends the running request", async () => {
      test.skip(isolated.threads === 1, "has no helper threads");
      host.prepend(`engine/gpt2-${isolated.variant}.js`, trapInHelpers);
      const attempt = () => within(patienceMs, `a text in ${name}`, browser.evaluate(writeWithThreads));
      let end = await attempt();
      for (let hangs = 0; end === "hangs" && hangs < mostHangs; hangs += 1) {
        await browser.open(host.page);
        end = await attempt();
      }
      expect(end).toBe("worker-died");
    });

    test("a bit that stays flipped is an error that names both hashes", async () => {
      host.answer(/safetensors\.001$/, (response) => void response.end(flipped));
      const { end } = await find("/models/demo/", { cache: false });
      expect(end).toMatch(
        /^corrupt: model\.safetensors\.001 has SHA-256 [0-9a-f]{64}, weights\.json says [0-9a-f]{64}$/,
      );
    });

    test("the second visit needs no host for the model", async () => {
      const models = await serve(true, { "/models/": resolve(root, "web/models") }, { open: true });
      const address = `${models.origin}/models/demo/`;
      let isOpen = true;
      await holdCache();
      try {
        expect(await find(address, {})).toMatchObject({ end: expected, sources: ["network"] });
        await models.close();
        isOpen = false;
        const visit = await find(address, {});
        expect(visit.end).toBe(expected);
        expect(visit.sources).toContain("cache");
        const away = await find(address, { cache: false });
        expect(away.end).toMatch(/^network: /);
      } finally {
        if (isOpen) await models.close();
      }
    });

    test("after the site's data is cleared, an open page loads and stores again", async () => {
      await holdCache();
      expect((await find("/models/demo/", {})).end).toBe(expected);
      expect(JSON.parse(await browser.evaluate(stored()))).toMatchObject({ models: [{ isComplete: true }] });
      host.answer(/^clear$/, (response) => {
        response.writeHead(200, { "Clear-Site-Data": '"storage"' }).end();
      });
      await browser.evaluate(`fetch("/clear").then((response) => response.text())`);
      expect(JSON.parse(await browser.evaluate(stored()))).toEqual({ models: [], bytes: 0 });
      await holdCache();
      expect(await find("/models/demo/", {})).toMatchObject({ end: expected, sources: ["network"] });
      expect((await find("/models/demo/", {})).sources).toContain("cache");
    });

    test("a host that answers 200 with an error page removes no stored model; removeModel does", async () => {
      await holdCache();
      expect((await find("/models/demo/", {})).end).toBe(expected);
      host.answer(/^models\//, (response) => {
        response.writeHead(200, { "Content-Type": "application/json" }).end('{"error":"busy"}');
      });
      const visit = await find("/models/demo/", {});
      expect(visit.end).toBe(expected);
      expect(visit.sources).toContain("cache");
      expect(JSON.parse(await browser.evaluate(stored()))).toMatchObject({ models: [{ isComplete: true }] });
      const removal = stored(`gpt2.removeModel("/models/demo/")`);
      expect(JSON.parse(await browser.evaluate(removal))).toEqual({ changed: true, models: [], bytes: 0 });
    });
  });
}
