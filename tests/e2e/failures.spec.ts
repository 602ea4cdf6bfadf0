// When a browser, a worker or a thread fails, the page always gets an error with a stable code and a sentence.
import { expect, test } from "@playwright/test";
import { FaultyHost, tryModel } from "./faulty-host.js";
import { inPage, prompt } from "./model.js";
import { trapInHelpers } from "./trap.js";

let host: FaultyHost;
test.beforeEach(async () => {
  host = new FaultyHost();
  await host.start();
});
test.afterEach(() => host.stop());

test("a dead worker rejects all open requests, even if a reader has stopped reading", async ({ page }) => {
  await page.goto(host.page);
  await inPage(
    page,
    async ({ loadModel }, text) => {
      const describe = ({ code, message }: { code: string; message: string }) => `${code}: ${message}`;
      const model = await loadModel("models/demo/", { variant: "simd" });
      const stream = model.generate(text, { maxNewTokens: 1000, ignoreEos: true });
      await stream.next();
      const loop = async () => {
        await new Promise((resolve) => Object.assign(window, { readOn: resolve }));
        for await (const _ of stream);
      };
      const requests = [
        model.complete(text, { maxNewTokens: 1e6, ignoreEos: true }),
        model.tokenize("waits its turn"),
        model.score(text),
      ];
      const ends = [loop(), ...requests].map((request) => request.then(() => "done", describe));
      const later = () => model.detokenize([1]).catch(describe);
      Object.assign(window, { ends, later });
    },
    prompt,
  );
  // The worker ends without an event, as if memory were short.
  const worker = page.workers().find((each) => each.url().includes("gpt2-worker"));
  await worker?.evaluate(() => self.close());
  const found = await page.evaluate(async () => {
    const { ends, later, readOn } = window as unknown as {
      ends: Promise<string>[];
      later: () => Promise<string>;
      readOn: () => void;
    };
    const others = await Promise.all(ends.slice(1));
    readOn();
    return [await ends[0], ...others, await later()];
  });
  const died = "worker-died: the browser ended the engine's worker";
  expect(found).toEqual([died, died, died, died, `${died}; the model must be loaded again`]);
});

test("if a thread cannot start, the model runs with one thread less and a notice", async ({ page }) => {
  await page.goto(host.page);
  let helpers = 0;
  host.fault = (name, response) => {
    const isHelper = response.req.headers["sec-fetch-dest"] === "worker"; // the worker itself runs the same script
    if (!isHelper || !/gpt2-threads-relaxed\.js$/.test(name) || helpers++ < 1) return false;
    response.writeHead(404).end();
    return true;
  };
  expect(await tryModel(page, "models/demo/", { threads: 4 }, prompt)).toBe(
    "3 tokens, threads-relaxed, 2, Running on 2 of 4 threads: helper threads could not be started, or failed.",
  );
});

test("a thread that traps ends the running request, even if nobody disposes of the model", async ({
  page,
}) => {
  await page.goto(host.page);
  host.prepend("engine/gpt2-threads-relaxed.js", trapInHelpers);
  const found = await inPage(
    page,
    async ({ loadModel }, text) => {
      const describe = (error: { code: string; message: string }) => `${error.code}: ${error.message}`;
      const model = await loadModel("models/demo/", { threads: 2 });
      const running = model.complete(text, { maxNewTokens: 1e6, ignoreEos: true });
      const waiting = model.tokenize(text);
      const ends = [running, waiting].map((request) => request.then(() => "done", describe));
      return { threads: model.info.threads, ends: await Promise.all(ends) };
    },
    prompt,
  );
  const end = "worker-died: the engine failed (unreachable)";
  expect(found).toEqual({ threads: 2, ends: [end, end] });
  host.fault = () => false;
  expect(await tryModel(page, "models/demo/", { threads: 2 }, prompt)).toMatch(
    /^3 tokens, threads-relaxed, 2/,
  );
});

/** What a browser may lack: in the worker or the page, the code that takes it away, and what a load finds. */
const missing: [string, "worker" | "page", string, RegExp][] = [
  [
    "navigator.hardwareConcurrency",
    "worker",
    "Object.defineProperty(navigator, 'hardwareConcurrency', { value: undefined })",
    /^3 tokens, threads-relaxed, 1, null/,
  ],
  [
    "syntax that it knows",
    "worker",
    "@",
    /^network: the worker.s script gpt2-worker.js cannot be loaded: .*this browser cannot run it .Chrome/,
  ],
  ["Worker", "page", "delete window.Worker", /^unsupported: the engine needs a worker, and cannot start one/],
  ["AbortSignal.any", "page", "delete AbortSignal.any", /^3 tokens/],
  ["navigator.locks", "page", "delete Navigator.prototype.locks", /^3 tokens/],
  [
    "localStorage",
    "page",
    "Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied') } })",
    /^3 tokens/,
  ],
];
for (const [feature, where, code, found] of missing) {
  test(`a ${where} without ${feature} still loads a model, or the error names what is missing`, async ({
    page,
  }) => {
    if (where === "worker") host.prepend("gpt2-worker.js", code);
    else await page.addInitScript(code);
    await page.goto(host.page);
    // Nothing is measured if the number of threads is stored, and a load with one thread would store one.
    expect(await tryModel(page)).toMatch(found);
  });
}
