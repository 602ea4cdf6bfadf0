// Finds out how an app that a tool has built gets the worker and the engine, from what its page fetches.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";

/**
 * "as a chunk": a module that contains both, fetched because there is no worker file. "in the app": every visitor loads
 * that module.
 */
export type Delivery = "as files" | "as a chunk" | "in the app";

/** Letters of the packed engine, which no minifier changes. `folder` has the package installed. */
function engineSample(folder: string): string {
  const inlined = readFileSync(join(folder, "node_modules/gpt2-wasm/build/package/gpt2-inlined.js"), "utf8");
  const sample = /\w{16}/.exec(inlined.slice(inlined.length / 2))?.[0];
  if (!sample) throw new Error("gpt2-inlined.js has no run of letters");
  return sample;
}

/** Watches what `page` fetches from now on. Call what it returns when the app of `folder` has written. */
export function watchDelivery(page: Page, folder: string): () => Promise<Delivery> {
  const sample = engineSample(folder);
  /** Addresses, and whether they were fetched before the first worker started. */
  const scripts = new Map<string, boolean>();
  let hasWorker = false;
  let hasEngineFile = false;
  page.on("worker", () => (hasWorker = true));
  page.on("response", (response) => {
    if (!response.ok()) return;
    if (/\.wasm(\?|$)/.test(response.url())) hasEngineFile = true;
    const isScript = /javascript/.test(response.headers()["content-type"] ?? "");
    if (isScript && !scripts.has(response.url())) scripts.set(response.url(), !hasWorker);
  });
  return async () => {
    // Fetches the file again, because Playwright waits forever for a body that a terminated worker fetched.
    const bodies = await Promise.all(
      [...scripts.keys()].map(async (url) => [url, await (await fetch(url)).text()] as const),
    );
    const inlined = bodies.filter(([, text]) => text.includes(sample)).map(([url]) => url);
    if (hasEngineFile && inlined.length > 0)
      throw new Error(`the page fetched ${String(inlined[0])} for nothing: it has the engine's file`);
    if (hasEngineFile) return "as files";
    if (inlined.length === 0) throw new Error("the page fetched no engine");
    return inlined.some((url) => scripts.get(url)) ? "in the app" : "as a chunk";
  };
}
