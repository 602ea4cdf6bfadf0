// Cross-origin isolation on hosts that send no headers, through the page's service worker.
import { mayReload } from "../../src/client/isolate-page.js";

/**
 * Reloads the page if the service worker that controls it would isolate it; then this never returns. Throws the signal's
 * reason when that aborts.
 */
export async function ensureIsolation(signal: AbortSignal): Promise<void> {
  if (self.crossOriginIsolated || !mayReload()) return; // otherwise the page runs with one thread
  signal.throwIfAborted();
  location.reload();
  await new Promise<never>(() => undefined);
}
