// Models that are disposed of or forgotten: their memory, their threads and their workers.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test, type Page } from "@playwright/test";
import { inPage } from "./model.js";

test.beforeEach(({ page }) => page.goto("./?model=none"));

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

test("dispose frees memory and threads, also right after a run", async ({ page }) => {
  test.skip(process.platform !== "linux", "reads /proc");
  await expect.poll(async () => (await renderers(page)).workers).toBe(0); // the workers of the previous test have ended
  const before = await renderers(page);
  await inPage(
    page,
    async ({ loadModel }) => {
      const model = await loadModel("models/demo/", { variant: "threads-relaxed", threads: 4, kv: "f32" });
      await model.complete("One day", { maxNewTokens: 300, ignoreEos: true });
      Object.assign(window, { model });
    },
    undefined,
  );
  const loaded = await renderers(page);
  await page.evaluate(() => (window as unknown as { model: { dispose(): Promise<void> } }).model.dispose());
  expect(loaded.workers).toBe(4);
  const patience = { intervals: [100] };
  await expect.poll(async () => (await renderers(page)).workers, patience).toBe(0);
  const bytes = async () => (await renderers(page)).bytes - before.bytes;
  await expect.poll(bytes, patience).toBeLessThan((loaded.bytes - before.bytes) / 2);

  await inPage(
    page,
    async ({ loadModel }) => {
      for (let i = 0; i < 20; ++i) {
        const model = await loadModel("models/demo/", { variant: "threads-relaxed", threads: 4 });
        await model.complete("One day", { maxNewTokens: 5 });
        await model.dispose();
      }
    },
    undefined,
  );
  await expect.poll(async () => (await renderers(page)).workers, patience).toBe(0);
});

test("models are garbage-collected, one that its onProgress refers to, and one that was disposed of", async ({
  page,
}) => {
  await inPage(
    page,
    async ({ loadModel }) => {
      const app = { model: {}, stage: "" };
      const onProgress = ({ stage }: { stage: string }) => (app.stage = stage);
      app.model = await loadModel("models/demo/", { variant: "simd", onProgress });
      const model = await loadModel("models/demo/", { variant: "simd", kv: "f32" });
      await model.dispose();
      Object.assign(window, { disposed: new WeakRef(model) });
    },
    undefined,
  );
  await expect.poll(async () => (await collectGarbage(page), page.workers().length)).toBe(0);
  const isCollected = () =>
    page.evaluate(() => (window as unknown as { disposed: WeakRef<object> }).disposed.deref() === undefined);
  await expect.poll(async () => (await collectGarbage(page), isCollected())).toBe(true);
});
