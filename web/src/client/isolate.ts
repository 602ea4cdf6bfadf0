// Threads on hosts that send no headers, through a service worker that adds them.
import { readOptions, readSignal } from "./arguments.js";
import { mayReload } from "./reload-once.js";

export interface IsolateOptions {
  signal?: AbortSignal | null | undefined;
}

const patienceMs = 3000;

/** Whether the service worker will answer the next load of this page; false after a while: some browsers ignore it. */
async function register(script: string | URL, signal: AbortSignal | undefined): Promise<boolean> {
  const { serviceWorker } = navigator;
  await serviceWorker.register(script);
  return Promise.race([
    serviceWorker.ready.then(() => true),
    new Promise<false>((resolve) => setTimeout(resolve, patienceMs, false)),
    new Promise<false>((resolve) => signal?.addEventListener("abort", () => resolve(false), { once: true })),
  ]);
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
  // A frame is isolated with its parent, or not at all.
  const canHelp = globalThis.isSecureContext && "serviceWorker" in navigator && window.parent === window;
  if (!canHelp || !mayReload()) return false;
  let isReady = false;
  try {
    isReady = await register(script, signal);
  } catch {
    // Private windows refuse service workers, some hosts have no such script.
  }
  signal?.throwIfAborted();
  if (!isReady) return false;
  location.reload();
  return new Promise<never>(() => {});
}
