// The page's service worker: registered before the model is loaded, so that it stores what loads.
import type { ToServiceWorker } from "../../src/service-worker/messages.js";
import { inTime } from "../../src/shared/in-time.js";
import { unlessAborted } from "../../src/shared/unless-aborted.js";
import { elements as ui } from "../dom/elements.js";

/** If the service worker has not started by then, the page loads without it. */
const patienceMs = 10_000;

/** Resolves to whether a service worker controls this page. If it never finishes starting, the promise stays pending. */
async function isControlled(): Promise<boolean> {
  const { serviceWorker } = navigator;
  await serviceWorker.register("./sw.js");
  const registration = await serviceWorker.getRegistration();
  if (!registration) return false; // some browsers ignore the registration
  watchForRelease(registration);
  if (serviceWorker.controller) return true;
  // An active one has not claimed this page yet, or the visitor's forced reload bypassed it.
  tell(registration.active, { type: "claim" });
  return new Promise((resolve) => {
    const settle = () => resolve(serviceWorker.controller !== null);
    serviceWorker.addEventListener("controllerchange", settle, { once: true });
    if (serviceWorker.controller) settle();
  });
}

/**
 * Registers the service worker. Resolves to true once it handles this page's requests, and to false after `patienceMs`,
 * because a host may never send the script.
 */
export async function startServiceWorker(signal: AbortSignal): Promise<boolean> {
  if (!self.isSecureContext || !("serviceWorker" in navigator)) return false;
  try {
    return await inTime(unlessAborted(isControlled(), signal), patienceMs, "late");
  } catch {
    return false; // a private window refused it, it was too slow, or the visitor cancelled
  }
}

function tell(
  worker: ServiceWorker | null | undefined,
  message: ToServiceWorker,
  ports: MessagePort[] = [],
): void {
  worker?.postMessage(message, ports);
}

/** Lets the service worker fetch what this visit did not need, and says once the page works without network. */
export function keepForOffline(showsDemo: boolean): void {
  const { controller } = (navigator as Partial<Navigator>).serviceWorker ?? {};
  if (!controller) return;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data: isKept }: MessageEvent<boolean>) => {
    ui.offline.hidden = !(isKept && showsDemo);
    port1.close();
  };
  tell(controller, { type: "keep", model: showsDemo }, [port2]);
}

/** Registrations whose new releases are offered. */
const watched = new WeakSet<ServiceWorkerRegistration>();

/** Offers a new release when it is complete. Until the visitor accepts it, this page keeps its own. */
function watchForRelease(registered: ServiceWorkerRegistration): void {
  if (watched.has(registered)) return;
  watched.add(registered);
  const offer = () => {
    // The very first release waits for a moment, too, but replaces nothing.
    if (registered.waiting && registered.active) ui.update.hidden = false;
  };
  const watch = (worker: ServiceWorker | null) => worker?.addEventListener("statechange", offer);
  offer();
  watch(registered.installing);
  registered.addEventListener("updatefound", () => watch(registered.installing));
  let isAsked = false;
  ui.updateReload.addEventListener("click", () => {
    isAsked = true;
    if (registered.waiting) tell(registered.waiting, { type: "take-over" });
    else location.reload();
  });
  let hadController = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (isAsked) location.reload();
    // The visitor accepted the new release in another tab: files that this page would still fetch are gone.
    else if (hadController) ui.update.hidden = false;
    hadController = true;
  });
}
