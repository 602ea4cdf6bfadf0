// When a browser, a worker or a thread fails, the page always gets an error with a stable code and a sentence.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { FaultyHost, answerNotFound, tryModel } from "./faulty-host.js";
import { inPage, prompt, root } from "./model.js";
import { trapInHelpers, withTrap } from "./trap.js";

let host: FaultyHost;
test.beforeEach(async () => {
  host = new FaultyHost();
  await host.start();
});
test.afterEach(() => host.stop());

test("if the engine refuses a Hub file, the error keeps the engine's code and message", async ({ page }) => {
  const file = resolve(root, "tests/data/tiny-models/tied/model.safetensors");
  const bytes = readFileSync(file);
  const header = bytes.readUInt32LE(0);
  const renamed = Buffer.from(bytes);
  renamed.write("F64", bytes.indexOf('"F32"', 8) + 1);
  await page.goto(host.page);
  const ids = [1, 2, 3];
  for (const [content, sentence] of [
    [renamed, /^unsupported: model\.safetensors: tensor "wte\.weight" is "F64" /],
    [bytes.subarray(0, header + 100), /^corrupt: /],
    [Buffer.alloc(64, 0xff), /^corrupt: /],
  ] as const) {
    host.answer(/model\.safetensors$/, (response) => void response.end(content));
    expect(await tryModel(page, "tied/", {}, ids)).toMatch(sentence);
  }
  host.fault = () => false;
  expect(await tryModel(page, "tied/", {}, ids)).toContain("3 tokens");
});

test.describe("a worker that dies", () => {
  const died = "worker-died: the browser ended the engine's worker";
  /** Ends the worker without an event, as a browser does when memory is short. */
  const kill = (page: Page) =>
    page
      .workers()
      .find((worker) => worker.url().includes("gpt2-worker"))
      ?.evaluate(() => self.close());
  const say = `(error) => error.code + ": " + error.message`;

  test("a worker that dies during a load ends the load with an error", async ({ page }) => {
    await page.goto(host.page);
    let held: () => void = () => {};
    const reached = new Promise<void>((resolve) => (held = resolve));
    host.answer(/safetensors\.001$/, () => held()); // and never answers
    const loading = tryModel(page);
    await reached;
    await kill(page);
    expect(await loading).toBe(died);
  });

  test("a dead worker rejects all open requests, even if a reader has stopped reading", async ({ page }) => {
    await page.goto(host.page);
    await inPage(
      page,
      async ({ loadModel }, [text, source]) => {
        // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a function reaches the page as its source
        const describe = new Function(`return ${source}`)() as (error: unknown) => string;
        const model = await loadModel("models/demo/", { variant: "simd" });
        const stream = model.generate(text, { maxNewTokens: 1000, ignoreEos: true });
        await stream.next();
        const loop = async () => {
          await new Promise((resolve) => Object.assign(window, { readOn: resolve }));
          for await (const _ of stream);
        };
        const requests = [
          loop(),
          model.complete(text, { maxNewTokens: 1e6, ignoreEos: true }),
          model.tokenize("waits its turn"),
          model.score(text),
        ];
        const settled = Promise.all(requests.map((request) => request.then(() => "done", describe)));
        const later = () => model.detokenize([1]).catch(describe);
        Object.assign(window, { settled, later });
      },
      [prompt, say] as const,
    );
    await page.waitForTimeout(300);
    await kill(page);
    const found = await page.evaluate(async () => {
      const { settled, later, readOn } = window as unknown as {
        settled: Promise<string[]>;
        later: () => Promise<string>;
        readOn: () => void;
      };
      await new Promise((resolve) => setTimeout(resolve, 300));
      readOn();
      return [...(await settled), await later()];
    });
    expect(found).toEqual([died, died, died, died, `${died}; the model must be loaded again`]);
  });
});

test.describe("a helper thread", () => {
  /** Answers for the script of each helper, or all but the first `good`; the worker itself runs the same script. */
  const answerHelpers = (answer: (response: ServerResponse) => void, good = 0) => {
    let seen = 0;
    host.fault = (name, response) => {
      const isHelper = response.req.headers["sec-fetch-dest"] === "worker";
      if (!isHelper || !/gpt2-threads-relaxed\.js$/.test(name) || seen++ < good) return false;
      answer(response);
      return true;
    };
  };

  test("if a thread cannot start, the model runs with one thread less and a notice", async ({ page }) => {
    await page.goto(host.page);
    answerHelpers(answerNotFound, 1); // one of three loads
    const found = await inPage(
      page,
      async ({ loadModel }, text) => {
        const model = await loadModel("models/demo/", { threads: 4 });
        const info = { ...model.info }; // before the number of threads is measured
        const call = { maxNewTokens: 60, ignoreEos: true, seed: 3 };
        const many = await model.complete(text, call);
        const single = await loadModel("models/demo/", { threads: 1, variant: "simd" });
        const one = await single.complete(text, call);
        return { info, isSame: many.text === one.text };
      },
      prompt,
    );
    expect(found.info.threads).toBe(2);
    expect(found.info.variant).toBe("threads-relaxed");
    expect(found.info.notice).toBe(
      "Running on 2 of 4 threads: helper threads could not be started, or failed.",
    );
    expect(found.isSame).toBe(true);
  });

  test("the load does not wait for a thread that never answers", async ({ page }) => {
    await page.goto(host.page);
    answerHelpers(() => {});
    expect(await tryModel(page, "models/demo/", { threads: 3 }, prompt)).toContain(
      "3 tokens, threads-relaxed, 1, Running on 1 of 3",
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
        return {
          threads: model.info.threads,
          running: await running.then(() => "done", describe),
          waiting: await waiting.then(() => "done", describe),
        };
      },
      prompt,
    );
    expect(found.threads).toBe(2);
    expect(found.running).toBe("worker-died: the engine failed (unreachable)");
    expect(found.waiting).toBe(found.running);
    host.fault = () => false;
    expect(await tryModel(page, "models/demo/", { threads: 2 }, prompt)).toMatch(
      /^3 tokens, threads-relaxed, 2/,
    );
  });
});

test.describe("with missing features", () => {
  const inWorker: [string, string, RegExp][] = [
    ["WebAssembly", "self.WebAssembly = undefined", /^unsupported: this browser has no WebAssembly/],
    [
      "SIMD",
      "WebAssembly.validate = () => false",
      /^unsupported: this browser has no WebAssembly SIMD: Chrome/,
    ],
    [
      "SharedArrayBuffer",
      "self.SharedArrayBuffer = undefined",
      /^3 tokens, simd-relaxed, 1, Running on one thread/,
    ],
    [
      "crypto.subtle",
      "Object.defineProperty(crypto, 'subtle', { value: undefined })",
      /^3 tokens, threads-relaxed/,
    ],
    ["navigator.locks", "Object.defineProperty(navigator, 'locks', { value: undefined })", /^3 tokens/],
    [
      "navigator.hardwareConcurrency",
      "Object.defineProperty(navigator, 'hardwareConcurrency', { value: undefined })",
      /^3 tokens, threads-relaxed, 1, null/,
    ],
    [
      "workers of its own",
      "self.Worker = class { constructor() { throw new Error('refused') } }",
      /^3 tokens, threads-relaxed, 1, Running on 1 of \d+ threads/,
    ],
    [
      "a browser that grants all memory",
      "{ const Native = WebAssembly.Memory; WebAssembly.Memory = function (d) { if (d.maximum > d.initial) throw new RangeError('no'); return new Native(d) } }",
      /^3 tokens/,
    ],
    [
      "memory",
      "WebAssembly.Memory = function () { throw new RangeError('could not allocate memory') }",
      /^out-of-memory: this browser does not provide the \d+ MB that the model needs/,
    ],
    ["a script that runs", "import x from './nowhere.js'", /^network: the worker's script|^unsupported/],
    [
      "syntax that it knows",
      "@",
      /^network: the worker.s script gpt2-worker.js cannot be loaded: .*this browser cannot run it .Chrome/,
    ],
  ];
  for (const [feature, code, found] of inWorker) {
    test(`a worker without ${feature} still loads, or the error names what is missing`, async ({ page }) => {
      host.prepend("gpt2-worker.js", code);
      await page.goto(host.page);
      // Nothing is measured if the number of threads is stored, and a load with one thread would store one.
      expect(await tryModel(page)).toMatch(found);
    });
  }

  const inPages: [string, string, RegExp][] = [
    ["Worker", "delete window.Worker", /^unsupported: the engine needs a worker, and cannot start one/],
    [
      "Worker that is allowed",
      "window.Worker = class { constructor() { throw new Error('file://') } }",
      /^unsupported: .*file:\/\//,
    ],
    ["AbortSignal.any", "delete AbortSignal.any", /^3 tokens/],
    ["navigator.locks", "delete Navigator.prototype.locks", /^3 tokens/],
    [
      "localStorage",
      "Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied') } })",
      /^3 tokens/,
    ],
  ];
  for (const [feature, code, found] of inPages) {
    test(`a page without ${feature} still loads, or the error names what is missing`, async ({ page }) => {
      await page.addInitScript(code);
      await page.goto(host.page);
      expect(await tryModel(page)).toMatch(found);
    });
  }
});

for (const variant of ["simd", "threads"] as const) {
  test(`an engine that trapped is never called again: ${variant}`, async ({ page }) => {
    const read = (name: string) => readFileSync(resolve(root, "web/dist/engine", name));
    const trapping = withTrap(read(`gpt2-${variant}.wasm`), "gpt2_step");
    host.answer(/gpt2-[a-z-]+\.wasm$/, (response) => {
      response.writeHead(200, { "Content-Type": "application/wasm" }).end(trapping);
    });
    await page.goto(host.page);
    const found = await inPage(
      page,
      async ({ loadModel }, options) => {
        const outcomeOf = async (request: Promise<unknown>) =>
          request.then(
            () => "settled",
            (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
          );
        const model = await loadModel("models/demo/", options);
        const ids = await outcomeOf(model.tokenize("One day"));
        const first = await outcomeOf(model.complete("One day", { maxNewTokens: 3 }));
        const then = await outcomeOf(model.tokenize("One day"));
        await model.dispose();
        const next = await loadModel("models/demo/", options);
        return { ids, first, then, next: await outcomeOf(next.tokenize("One day")) };
      },
      { variant, threads: variant === "simd" ? 1 : 2 },
    );
    expect(found.ids).toBe("settled");
    expect(found.first).toMatch(/^worker-died: the engine failed \(unreachable/);
    expect(found.then).toMatch(/^worker-died: .*the model must be loaded again$/);
    expect(found.next).toBe("settled");
  });
}
