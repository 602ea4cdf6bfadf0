// gpt2-isolate.js: registers the service worker that isolates a page, and reloads it.
import { mayReload } from "./reload-once.js";

const patienceMs = 3000;

/** Whether the service worker will answer the next load of this page; false after a while: some browsers ignore it. */
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

/** As isolate, for a page that is not isolated. */
export async function isolatePage(script: string | URL, signal: AbortSignal | undefined): Promise<boolean> {
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
