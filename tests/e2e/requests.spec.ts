// Requests that are aborted, not read, or abandoned.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test, type Page } from "@playwright/test";
import { inPage, prompt, withModel } from "./model.js";

/** Lets the page count the tokens that its workers send. */
async function countTokens(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const counted = Object.assign(window, { tokensSent: 0 });
    window.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options);
        this.addEventListener("message", ({ data }) => {
          if (data.type === "event" && data.event.tokens) counted.tokensSent += data.event.tokens.length;
        });
      }
    };
  });
}

test("generation pauses while its loop does not read, other requests run, and the text stays the same", async ({
  page,
}) => {
  await countTokens(page);
  const found = await withModel(
    page,
    {},
    async (model, text) => {
      const counted = window as unknown as { tokensSent: number };
      const call = { maxNewTokens: 900, ignoreEos: true, temperature: 1, seed: 9 };
      const expected = (await model.complete(text, call)).tokens.map(({ id }) => id);
      const other = await model.complete("The dog", { maxNewTokens: 20, seed: 1 });
      counted.tokensSent = 0;
      const stream = model.generate(text, call);
      const ids = [(await stream.next()).value as { id: number }];
      let sent;
      do {
        sent = counted.tokensSent;
        await new Promise((resolve) => setTimeout(resolve, 400));
      } while (sent !== counted.tokensSent);
      const between = await model.complete("The dog", { maxNewTokens: 20, seed: 1 });
      for await (const token of stream) ids.push(token);
      return { expected, ids: ids.map(({ id }) => id), sent, isSame: between.text === other.text };
    },
    prompt,
  );
  expect(found.sent).toBeGreaterThan(200);
  expect(found.sent).toBeLessThan(300);
  expect(found.isSame).toBe(true);
  expect(found.ids).toEqual(found.expected);
});

test("an abort settles a waiting request at once, and no further token arrives", async ({ page }) => {
  const found = await withModel(
    page,
    {},
    async (model, text) => {
      const running = new AbortController();
      let late = 0;
      const loop = (async () => {
        for await (const _ of model.generate(text, {
          maxNewTokens: 4000,
          ignoreEos: true,
          signal: running.signal,
        }))
          if (running.signal.aborted) late += 1;
      })().catch((error: Error) => error.message);
      const waiting = new AbortController();
      const requests = [
        model.complete(text, { signal: waiting.signal }),
        model.score(text, { signal: waiting.signal }),
      ];
      const settled = Promise.all(requests.map((request) => request.catch((error: Error) => error.message)));
      await new Promise((resolve) => setTimeout(resolve, 50));
      waiting.abort(new Error("waiting"));
      const reasons = await settled; // the loop still runs, and gets its reason next
      running.abort(new Error("running"));
      return { reasons, reason: await loop, late };
    },
    prompt,
  );
  expect(found.reasons).toEqual(["waiting", "waiting"]);
  expect(found.reason).toBe("running");
  expect(found.late).toBe(0);
});

/** The text of a file below /proc; empty if its process has just ended. */
function readProc(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Memory (proportional set size, in bytes) and worker threads of all the browser's renderers. */
async function renderers(page: Page): Promise<{ bytes: number; workers: number }> {
  const cdp = await page.context().browser()?.newBrowserCDPSession();
  const { processInfo } = (await cdp?.send("SystemInfo.getProcessInfo")) ?? { processInfo: [] };
  await cdp?.detach();
  let bytes = 0;
  let workers = 0;
  for (const { id } of processInfo.filter(({ type }) => type === "renderer")) {
    bytes += 1024 * Number(/^Pss:\s+(\d+)/m.exec(readProc(`/proc/${id}/smaps_rollup`))?.[1] ?? 0);
    for (const task of readdirSync(`/proc/${id}/task`)) {
      if (readProc(`/proc/${id}/task/${task}/comm`).startsWith("Dedicated")) workers += 1;
    }
  }
  return { bytes, workers };
}

const collectGarbage = (page: Page) => page.evaluate(() => (window as unknown as { gc(): void }).gc());

for (const variant of ["threads-relaxed", "simd"] as const) {
  test(`dispose frees memory and threads with ${variant}`, async ({ page }) => {
    test.skip(process.platform !== "linux", "reads /proc");
    await page.goto("./?model=none");
    const threads = variant === "simd" ? undefined : 4;
    await expect.poll(async () => (await renderers(page)).workers).toBe(0); // the workers of the previous test have ended
    const before = await renderers(page);
    await inPage(
      page,
      async ({ loadModel }, options) => {
        const model = await loadModel("models/demo/", options);
        await model.complete("One day", { maxNewTokens: 300, ignoreEos: true });
        Object.assign(window, { model });
      },
      { variant, threads, kv: "f32" as const },
    );
    const loaded = await renderers(page);
    await page.evaluate(() => (window as unknown as { model: { dispose(): Promise<void> } }).model.dispose());
    expect(loaded.workers).toBe(threads ?? 1);
    const patience = { timeout: 15_000, intervals: [100] }; // a busy machine counts them late
    await expect.poll(async () => (await renderers(page)).workers, patience).toBe(0);
    const bytes = async () => (await renderers(page)).bytes - before.bytes;
    await expect.poll(bytes, patience).toBeLessThan((loaded.bytes - before.bytes) / 2);
  });
}

test("models that are disposed of right after a run leave no thread", async ({ page }) => {
  test.skip(process.platform !== "linux", "reads /proc");
  await page.goto("./?model=none");
  await inPage(
    page,
    async ({ loadModel }, options) => {
      for (let i = 0; i < 20; ++i) {
        const model = await loadModel("models/demo/", options);
        await model.complete("One day", { maxNewTokens: 5 });
        await model.dispose();
      }
    },
    { variant: "threads-relaxed", threads: 4 } as const,
  );
  await expect.poll(async () => (await renderers(page)).workers, { timeout: 15_000 }).toBe(0);
});

test("an unreferenced model is disposed of, and a model with an active reader is not", async ({ page }) => {
  await page.goto("./?model=none");
  await inPage(
    page,
    async ({ loadModel }, text) => {
      const stream = (await loadModel("models/demo/", { variant: "simd" })).generate(text, {
        maxNewTokens: 400,
        ignoreEos: true,
      });
      Object.assign(window, { stream });
      await stream.next();
      await loadModel("models/demo/", { variant: "simd", kv: "f32" }); // another worker
    },
    prompt,
  );
  await expect.poll(async () => (await collectGarbage(page), page.workers().length)).toBe(1);
  const rest = await page.evaluate(async () => {
    const { stream } = window as unknown as { stream: AsyncIterable<unknown> };
    let tokens = 0;
    for await (const _ of stream) tokens += 1;
    Object.assign(window, { stream: undefined });
    return tokens;
  });
  expect(rest).toBe(399);
  await expect.poll(async () => (await collectGarbage(page), page.workers().length)).toBe(0);
});

test("a model that its onProgress refers to is garbage-collected", async ({ page }) => {
  await page.goto("./?model=none");
  await inPage(
    page,
    async ({ loadModel }) => {
      const app = { model: {}, stage: "" };
      app.model = await loadModel("models/demo/", {
        variant: "simd",
        onProgress: ({ stage }) => (app.stage = stage),
      });
    },
    undefined,
  );
  await expect.poll(async () => (await collectGarbage(page), page.workers().length)).toBe(0);
});

test("a model that was disposed of is garbage-collected", async ({ page }) => {
  await page.goto("./?model=none");
  await inPage(
    page,
    async ({ loadModel }) => {
      const model = await loadModel("models/demo/", { variant: "simd" });
      await model.dispose();
      Object.assign(window, { disposed: new WeakRef(model) });
    },
    undefined,
  );
  const isCollected = () =>
    page.evaluate(() => (window as unknown as { disposed: WeakRef<object> }).disposed.deref() === undefined);
  await expect.poll(async () => (await collectGarbage(page), isCollected())).toBe(true);
});

test("an argument that the engine refuses causes an error that names it", async ({ page }) => {
  const found = await withModel(
    page,
    {},
    async (model) => {
      const odd = model as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
      const say = async (name: string, ...args: unknown[]) =>
        (await odd[name]?.(...args).catch((error: Error) => `${error.name}: ${error.message}`)) as string;
      return {
        refused: [
          await say("complete", "p", { temperature: "hot" }),
          await say("score", "p", { stride: 0 }),
          await say("score", [1, 2], { start: -1 }),
          await say("score", [1, 2], { start: 1.5 }),
          await say("score", [1, 2], { start: 3 }),
          await say("score", [1, 2], { start: 2 ** 53 }),
          await say("score", [1, 2], { start: "1" }),
        ],
        surrogates: await model.detokenize(await model.tokenize("a\ud800b \udfff")),
        stop: (await model.complete("Once", { stop: ["\ud800"], maxNewTokens: 2, seed: 1 })).tokens.length,
        typed: (await model.complete(Uint32Array.of(5, 6), { maxNewTokens: 1 })).tokens.length,
      };
    },
    undefined,
  );
  expect(found.refused).toEqual([
    expect.stringMatching(/^InvalidArgumentError: temperature is "hot", expected a number/),
    "InvalidArgumentError: stride is 0, expected a whole number from 1 to 511",
    "InvalidArgumentError: start is -1, expected a whole number from 0 to 2",
    "InvalidArgumentError: start is 1.5, expected a whole number from 0 to 2",
    "InvalidArgumentError: start is 3, expected a whole number from 0 to 2",
    "InvalidArgumentError: start is 9007199254740992, expected a whole number from 0 to 2",
    'InvalidArgumentError: start is "1", expected a whole number from 0 to 2',
  ]);
  expect(found.surrogates).toBe("a\ufffdb \ufffd");
  expect(found.stop).toBe(2);
  expect(found.typed).toBe(1);
});
