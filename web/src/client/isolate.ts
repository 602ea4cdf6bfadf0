// Threads on hosts that send no headers, through a service worker that adds them.
import { readOptions, readSignal } from "./arguments.js";

export interface IsolateOptions {
  signal?: AbortSignal | null | undefined;
}

/**
 * Isolates the page, which threads need, where its host does not: registers the service worker `script`, a copy of this
 * package's isolate.js that lies beside the page or above it, and reloads the page, once in a tab and never again; then
 * this does not return. Resolves to whether the page is isolated. Call it before anything that a reload would lose.
 */
export async function isolate(
  script: string | URL = "isolate.js",
  options: IsolateOptions = {},
): Promise<boolean> {
  const signal = readSignal(readOptions("isolate", options, ["signal"]).signal);
  signal?.throwIfAborted();
  if (globalThis.crossOriginIsolated) return true;
  return (await import("./isolate-page.js")).isolatePage(script, signal);
}
