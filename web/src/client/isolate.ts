// Enables threads on hosts that send no headers, through a service worker that adds them.
import { readOptions, readSignal } from "../shared/arguments.js";

/** Options of `isolate`. */
export interface IsolateOptions {
  /** Aborts the call; the page is then not reloaded. */
  signal?: AbortSignal | null | undefined;
}

/**
 * Isolates the page, which threads need, on a host that does not send the headers. It registers the service worker `script`,
 * a copy of this package's isolate.js beside the page or in a folder above it. On the first visit it reloads the page, once in a
 * tab, and then does not return. Resolves to whether the page is isolated. Call it before anything that a reload would lose.
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
