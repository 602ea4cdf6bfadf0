// The worker: owns the engine. What it does with the page's requests is in server.ts.
import { UrlSource } from "../loader/model-source.js";
import type { FromWorker, ToWorker } from "../shared/protocol.js";
import { watchWorkers } from "./helper-threads.js";
import { holdLock } from "./lifeline.js";
import { loadEngine } from "./load.js";
import { Server } from "./server.js";
import { UrlBuilds } from "./url-builds.js";
import { detectFeatures } from "./variants.js";

declare const self: DedicatedWorkerGlobalScope & { Worker: typeof Worker };

const post = (message: FromWorker) => self.postMessage(message);
const server = new Server(
  (request, around) =>
    loadEngine(request, {
      ...around,
      openFolder: (address) => new UrlSource(address),
      builds: new UrlBuilds(import.meta.url),
      features: detectFeatures,
      cores: navigator.hardwareConcurrency,
    }),
  post,
);
watchWorkers(self, () => server.loseThread());
self.onmessage = ({ data }: MessageEvent<ToWorker>) => server.receive(data);
void holdLock(self.navigator.locks).then((lock) => post({ type: "alive", lock }));
