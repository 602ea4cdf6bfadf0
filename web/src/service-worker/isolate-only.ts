// isolate.js, for your own pages: a service worker that isolates them if their host sends no headers. It changes and
// stores nothing else.
import { fetchShared, isolate, isolatedDestinations } from "./isolate.js";

declare const self: ServiceWorkerGlobalScope;

self.addEventListener("install", () => void self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (isolatedDestinations.includes(request.destination)) {
    return event.respondWith(fetch(request).then(isolate));
  }
  const shared = fetchShared(request);
  if (shared) event.respondWith(shared);
});
