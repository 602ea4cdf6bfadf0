// Cross-origin isolation on hosts that send no headers, through a service worker.

const patienceMs = 3000;

/** Whether the service worker is ready; false after a while: some browsers ignore the registration. */
async function isReady(signal: AbortSignal): Promise<boolean> {
  await navigator.serviceWorker.register("./isolate.js");
  return Promise.race([
    navigator.serviceWorker.ready.then(() => true),
    new Promise<false>((resolve) => setTimeout(resolve, patienceMs, false)),
    new Promise<false>((resolve) => signal.addEventListener("abort", () => resolve(false), { once: true })),
  ]);
}

/**
 * Registers the service worker where it would help, and reloads the page once it controls it; then this never
 * returns. Throws the signal's reason once that aborts.
 */
export async function ensureIsolation(signal: AbortSignal): Promise<void> {
  if (self.crossOriginIsolated || !self.isSecureContext || !("serviceWorker" in navigator)) return;
  const key = "gpt2-isolation-tried";
  let willReload = false;
  try {
    if (sessionStorage.getItem(key) !== null) return; // it did not help: go on with one thread
    sessionStorage.setItem(key, "1");
    willReload = await isReady(signal);
  } catch {
    // Private windows refuse service workers or storage.
  }
  signal.throwIfAborted();
  if (!willReload) return;
  location.reload();
  await new Promise<never>(() => undefined);
}
