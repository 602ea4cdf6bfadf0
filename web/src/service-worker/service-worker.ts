// The page's service worker. It stores the page, the engine and the demo model, so that the page works without network. It
// adds the headers of cross-origin isolation if the host does not send them, so that the page gets threads.
import { cacheNames, setCacheNameDetails } from "workbox-core";
import { fetchShared, isolate, isolatedDestinations } from "./isolate.js";
import { KeptFiles, type KeptFile } from "./kept-files.js";
import type { ToServiceWorker } from "./messages.js";

declare const self: ServiceWorkerGlobalScope;
/** The files of this release, which the build fills in. */
declare const release: { app: KeptFile[]; model: KeptFile[] };

setCacheNameDetails({ prefix: "gpt2-wasm" });
const { app: appFiles, model: modelFiles } = release;
const app = new KeptFiles(appFiles, cacheNames.precache);
/** Stored only for visitors who use it. */
const model = new KeptFiles(modelFiles, `${cacheNames.precache}-model`);

self.addEventListener("install", (event) => {
  // The first release stores nothing in advance: the page waits for it, and loads through it.
  if (!self.registration.active) return void self.skipWaiting();
  // A new release takes over when it is complete, and either no page of the old one is open or the user asks for it.
  const installAll = async () => {
    await app.install(event);
    if (await model.hasAny()) await model.install(event);
  };
  event.waitUntil(installAll());
});

self.addEventListener("activate", (event) => {
  event.waitUntil(Promise.all([app.activate(event), model.activate(event), self.clients.claim()]));
});

self.addEventListener("message", (event) => {
  const message = event.data as ToServiceWorker;
  switch (message.type) {
    case "claim":
      // An inactive worker may not claim clients yet; it does so when it is activated.
      return event.waitUntil(self.clients.claim().catch(() => undefined));
    case "take-over":
      return void self.skipWaiting();
    case "keep": {
      const keep = async () => {
        const isKept = (await app.complete(event)) && (!message.model || (await model.complete(event)));
        event.ports[0]?.postMessage(isKept);
      };
      return event.waitUntil(keep().catch(() => event.ports[0]?.postMessage(false)));
    }
  }
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const files = [app, model].find((each) => each.has(request));
  const shared = fetchShared(request);
  const answer = () => files?.answer(request, event) ?? fetch(request);
  if (isolatedDestinations.includes(request.destination)) event.respondWith(answer().then(isolate));
  else if (files) event.respondWith(answer());
  else if (shared) event.respondWith(shared);
});
