// Cross-origin isolation on hosts that send no headers, through the page's service worker.

/**
 * Reloads the page where the service worker, which controls it, would isolate it; then this never returns. Throws the
 * signal's reason once that aborts.
 */
export async function ensureIsolation(signal: AbortSignal): Promise<void> {
  if (self.crossOriginIsolated) return;
  const key = "gpt2-isolation-tried";
  try {
    if (sessionStorage.getItem(key) !== null) return; // it did not help: go on with one thread
    sessionStorage.setItem(key, "1");
  } catch {
    return; // private windows refuse storage
  }
  signal.throwIfAborted();
  location.reload();
  await new Promise<never>(() => undefined);
}
