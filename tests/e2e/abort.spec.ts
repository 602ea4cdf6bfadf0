// An aborted load, in the states that only a browser has. It settles at once with the signal's reason, and leaves neither
// a worker nor a request behind.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import type { LoadOptions } from "../../web/src/client/index.js";
import { FaultyHost } from "./faulty-host.js";
import { inPage, root } from "./model.js";

type Answer = (response: ServerResponse, bytes: Buffer) => void;
const silent: Answer = () => {};
const half: Answer = (response, bytes) => {
  response.writeHead(200, { "Content-Type": "application/wasm", "Content-Length": bytes.length });
  response.write(bytes.subarray(0, bytes.length >> 1));
};

interface State {
  /** The file of the answer, if the load reaches the state by one. */
  file?: string;
  answer?: Answer;
  model?: string;
  options?: LoadOptions;
  /** An expression that is true once the state is reached. `reports` is the array of reports so far. */
  when: string;
  /** A request that the browser itself repeats, which the module cannot end. */
  leavesRequest?: true;
}

const floats = "tied/model.safetensors";
const states: Record<string, State> = {
  "before the worker's script": {
    file: "gpt2-worker.js",
    answer: silent,
    when: "globalThis.isAsked",
    leavesRequest: true,
  },
  "in the engine's code": { file: "engine/gpt2-simd.wasm", answer: half, when: "globalThis.isAsked" },
  "while floats are converted": {
    file: floats,
    answer: half,
    model: "tied/",
    options: { weights: "q4" },
    when: "reports.some((p) => p.stage === 'download')",
  },
  "while a stored model is read": {
    options: { cache: true },
    when: "reports.some((p) => p.source === 'cache' && p.loadedBytes > 0)",
  },
};

/** How a load ends that is aborted as soon as `when` holds, and its last report. */
async function abortWhen(
  { loadModel }: typeof import("../../web/src/client/index.js"),
  { model, options, when }: { model: string; options: LoadOptions; when: string },
): Promise<{ end: string; last: string }> {
  const reports: unknown[] = [];
  const controller = new AbortController();
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- an expression of the test's
  const isReached = new Function("reports", `return ${when}`) as (list: unknown[]) => boolean;
  const look = () => {
    if (!controller.signal.aborted && isReached(reports)) controller.abort(new Error("enough"));
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
  }).then(() => "it was loaded", String);
  clearInterval(timer);
  return { end, last: JSON.stringify(reports.at(-1) ?? null) };
}

for (const [state, { file, answer, model = "models/demo/", options, when, leavesRequest }] of Object.entries(
  states,
)) {
  test(`an abort ${state} rejects at once`, async ({ page }) => {
    const host = new FaultyHost();
    await host.start();
    await page.goto(host.page);
    try {
      if (!file) {
        const load = (gpt2: typeof import("../../web/src/client/index.js"), folder: string) =>
          gpt2.loadModel(folder, { variant: "simd" }).then((stored) => stored.dispose());
        await inPage(page, load, model);
      }
      host.fault = (name, response) => {
        if (name !== file || !answer) return false;
        const folder = model === "tied/" ? "tests/data/tiny-models" : "web/dist";
        answer(response, readFileSync(resolve(root, folder, name)));
        void page.evaluate("globalThis.isAsked = true").catch(() => undefined);
        return true;
      };
      const trial = { model, options: { cache: false, ...options }, when };
      const { end, last } = await inPage(page, abortWhen, trial);
      expect(end, last).toBe("Error: enough");
      await expect.poll(() => page.workers().length).toBe(0);
      const left = () => [...host.open].filter((name) => !leavesRequest || name !== file);
      await expect.poll(left).toEqual([]);
    } finally {
      await host.stop();
    }
  });
}
