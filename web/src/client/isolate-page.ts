// gpt2-isolate.js: registers the service worker that isolates a page, and reloads the page.

const patienceMs = 3000;

/**
 * Whether the service worker will answer the next load of this page. Resolves to false after a time limit, because some
 * browsers ignore it.
 */
async function register(script: string | URL, signal: AbortSignal | undefined): Promise<boolean> {
  const { serviceWorker } = navigator;
  // A host that never sends the script leaves `register` pending for minutes.
  return Promise.race([
    serviceWorker
      .register(script)
      .then(async () => serviceWorker.ready)
      .then(() => true),
    new Promise<false>((resolve) => setTimeout(resolve, patienceMs, false)),
    new Promise<false>((resolve) => signal?.addEventListener("abort", () => resolve(false), { once: true })),
  ]);
}

/** Implements `isolate` for a page that is not isolated. */
export async function isolatePage(script: string | URL, signal: AbortSignal | undefined): Promise<boolean> {
  // A frame is isolated only together with its parent.
  const canHelp = globalThis.isSecureContext && "serviceWorker" in navigator && window.parent === window;
  if (!canHelp || !mayReload()) return false;
  let isReady = false;
  try {
    isReady = await register(script, signal);
  } catch {
    // Private windows refuse service workers, and some hosts lack the script.
  }
  signal?.throwIfAborted();
  if (!isReady) return false;
  location.reload();
  return new Promise<never>(() => {});
}

const key = "gpt2-wasm:isolation-tried";

/** Whether this tab has not been reloaded yet. Records the reload: if one does not isolate the page, no further one does. */
export function mayReload(): boolean {
  try {
    if (sessionStorage.getItem(key) !== null) return false;
    sessionStorage.setItem(key, "1");
    return true;
  } catch {
    return false; // private windows refuse storage
  }
}
