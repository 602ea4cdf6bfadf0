// Cross-origin isolation on hosts that send no headers, through a service worker.

const patienceMs = 3000;

/**
 * Registers the service worker where it would help, and reloads once it controls the page. Returns true
 * when the page is about to be reloaded.
 */
export async function ensureIsolation(): Promise<boolean> {
  if (self.crossOriginIsolated || !self.isSecureContext || !("serviceWorker" in navigator)) return false;
  const key = "gpt2-isolation-tried";
  try {
    if (sessionStorage.getItem(key) !== null) return false; // it did not help: go on with one thread
    sessionStorage.setItem(key, "1");
    await navigator.serviceWorker.register("./isolate.js");
    // `ready` never settles where a browser ignores the registration.
    const isReady = await Promise.race([
      navigator.serviceWorker.ready.then(() => true),
      new Promise<false>((resolve) => setTimeout(resolve, patienceMs, false)),
    ]);
    if (isReady) location.reload();
    return isReady;
  } catch {
    return false; // private windows refuse service workers or storage
  }
}
