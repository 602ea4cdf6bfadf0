// An aborted load, in every state that it can be in. It settles at once with the signal's reason, and leaves neither a
// worker nor a request behind.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import type { LoadOptions } from "../../web/src/client/index.js";
import { FaultyHost } from "./faulty-host.js";
import { inPage, prompt, root } from "./model.js";

const bytesOf = (name: string) => readFileSync(resolve(root, "web/dist", name));

type Answer = (response: ServerResponse, name: string) => void;
const silent: Answer = () => {};
const half: Answer = (response, name) => {
  const bytes = name.startsWith("models/") || /\.(js|wasm)$/.test(name) ? bytesOf(name) : Buffer.alloc(64);
  const type = name.endsWith(".js") ? "text/javascript" : "application/wasm";
  response.writeHead(200, { "Content-Type": type, "Content-Length": bytes.length });
  response.write(bytes.subarray(0, bytes.length >> 1));
};
/** Bytes without an end, at about a megabyte per second. */
const slow: Answer = (response, name) => {
  const bytes = bytesOf(name);
  response.writeHead(200, { "Content-Length": bytes.length });
  let at = 0;
  const timer = setInterval(() => {
    response.write(bytes.subarray(at, (at += 50_000)));
    if (at >= bytes.length) response.end();
  }, 50);
  response.on("close", () => clearInterval(timer));
};
/** The floats of a model whose rest never arrives. */
const halfOfFloats: Answer = (response) => {
  const bytes = readFileSync(resolve(root, "tests/data/tiny-models/tied/model.safetensors"));
  response.writeHead(200, { "Content-Length": bytes.length });
  response.write(bytes.subarray(0, bytes.length >> 1));
};
const busy: Answer = (response) => void response.writeHead(503, { "Retry-After": "25" }).end();

interface State {
  file: RegExp;
  answer: Answer;
  model?: string;
  options?: LoadOptions;
  /** An expression that is true once the state is reached. `reports` is the array of reports so far. */
  when?: string;
  /** A request that the browser itself repeats, which the module cannot end. */
  leavesRequest?: true;
}

const states: Record<string, State> = {
  "before the worker's script": { file: /gpt2-worker\.js$/, answer: silent, leavesRequest: true },
  "in the engine's script": { file: /gpt2-simd\.js$/, answer: half, leavesRequest: true },
  "in the engine's code": { file: /gpt2-simd\.wasm$/, answer: half },
  "before the first byte of a model": { file: /config\.json$/, answer: silent },
  "in config.json": { file: /config\.json$/, answer: half },
  "in weights.json": { file: /weights\.json$/, answer: half },
  "in a piece": {
    file: /safetensors\.000$/,
    answer: slow,
    when: "reports.some((p) => p.loadedBytes > 200000)",
  },
  "in a piece that is silent": {
    file: /safetensors\.000$/,
    answer: half,
    when: "reports.some((p) => p.loadedBytes > 1e6)",
  },
  "in a pause before the next attempt": {
    file: /safetensors\.000$/,
    answer: busy,
    when: "reports.some((p) => p.retry)",
  },
  "while a prompt runs through the first layers": {
    file: /safetensors\.001$/,
    answer: half,
    options: { prompt },
    when: "reports.some((p) => p.layer?.done > 0)",
  },
  "while floats are converted": {
    file: /model\.safetensors$/,
    answer: halfOfFloats,
    model: "tied/",
    options: { weights: "q4" },
    when: "reports.some((p) => p.stage === 'download')",
  },
  "while floats are quantized by the engine": {
    file: /model\.safetensors$/,
    answer: halfOfFloats,
    model: "tied/",
    when: "reports.some((p) => p.loadedBytes > 0)",
  },
};

let host: FaultyHost;
/** Requests that have not ended. */
let open: Set<string>;
test.beforeEach(async ({ page }) => {
  host = new FaultyHost();
  await host.start();
  open = new Set();
  await page.goto(host.page);
});
test.afterEach(() => host.stop());

function watch(name: string, response: ServerResponse): void {
  open.add(name);
  response.on("close", () => open.delete(name));
}

interface Trial {
  model: string;
  options: LoadOptions;
  /** The condition `when` of State. */
  when: string;
}

/** The outcome of a load that is aborted as soon as `when` holds. */
async function abortWhen(
  { loadModel }: typeof import("../../web/src/client/index.js"),
  { model, options, when }: Trial,
): Promise<{ end: string; last: string }> {
  const reports: unknown[] = [];
  const controller = new AbortController();
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- an expression of the test's
  const isReached = new Function("reports", `return ${when}`) as (list: unknown[]) => boolean;
  const look = () => {
    if (controller.signal.aborted || !isReached(reports)) return;
    controller.abort(new Error("enough"));
  };
  const timer = setInterval(look, 5);
  const end = await loadModel(model, {
    variant: "simd",
    ...options,
    signal: controller.signal,
    onProgress(progress) {
      reports.push(progress);
      look();
    },
  }).then(
    () => "it was loaded",
    (error: unknown) => String(error),
  );
  clearInterval(timer);
  return { end, last: JSON.stringify(reports.at(-1) ?? null) };
}

/** Runs the trial. Afterwards only `workers` workers and requests for `except` may remain. */
async function expectAbort(page: Page, trial: Trial, workers = 0, except?: RegExp): Promise<void> {
  const { end, last } = await inPage(page, abortWhen, trial);
  expect(end, last).toBe("Error: enough");
  await expect.poll(() => page.workers().length, { timeout: 5000 }).toBe(workers);
  await expect.poll(() => [...open].filter((name) => !except?.test(name)), { timeout: 5000 }).toEqual([]);
}

for (const [state, { file, answer, model = "models/demo/", options, when, leavesRequest }] of Object.entries(
  states,
)) {
  test(`an abort ${state} rejects at once, and the next load works`, async ({ page }) => {
    host.fault = (name, response) => {
      watch(name, response);
      if (!file.test(name)) return false;
      answer(response, name);
      void page.evaluate("globalThis.isAsked = true").catch(() => undefined);
      return true;
    };
    const trial = { model, options: { cache: false, ...options }, when: when ?? "globalThis.isAsked" };
    await expectAbort(page, trial, 0, leavesRequest && file);
  });
}

test("an abort while a stored model is read rejects at once", async ({ page }) => {
  host.fault = (name, response) => (watch(name, response), false);
  await inPage(
    page,
    async ({ loadModel }) => (await loadModel("models/demo/", { variant: "simd" })).dispose(),
    undefined,
  );
  const when = "reports.some((p) => p.source === 'cache' && p.loadedBytes > 0)";
  await expectAbort(page, { model: "models/demo/", options: {}, when });
});

test("an abort does not disturb another load that stores the same piece", async ({ page }) => {
  host.fault = (name, response) => {
    if (!/safetensors\.00\d$/.test(name)) return false;
    slow(response, name);
    return true;
  };
  await inPage(
    page,
    ({ loadModel }) =>
      new Promise<void>((begun) => {
        const first = loadModel("models/demo/", {
          variant: "simd",
          onProgress: ({ loadedBytes }) => loadedBytes > 0 && begun(),
        });
        Object.assign(globalThis, { first });
      }),
    undefined,
  );
  const options = { variant: "simd-relaxed" } as const;
  const when =
    "reports.at(-1)?.stage === 'download' && (globalThis.looks = (globalThis.looks ?? 0) + 1) > 50";
  await expectAbort(page, { model: "models/demo/", options, when }, 1);
  const size = await page.evaluate(async () => {
    const model = await (Reflect.get(globalThis, "first") as Promise<
      import("../../web/src/client/index.js").Model
    >);
    await model.dispose();
    return model.info.weightBytes;
  });
  expect(size).toBeGreaterThan(0);
});
