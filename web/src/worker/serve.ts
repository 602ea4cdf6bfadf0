// The common part of all workers of the engine, whatever the source of their builds.
import { openSource } from "../model/pipeline.js";
import type { FromWorker } from "../shared/protocol.js";
import { release } from "../shared/release.js";
import { HelperThreads } from "./helper-threads.js";
import { holdLock } from "./lifeline.js";
import { loadEngine } from "./load.js";
import { Server } from "./server.js";
import type { BuildSource } from "./start-engine.js";
import { detectFeatures } from "./variants.js";

declare const self: DedicatedWorkerGlobalScope & { Worker: typeof Worker };

/** Answers the page's requests with the builds from `builds`. The first message names the release. */
export function serve(builds: BuildSource): void {
  const post = (message: FromWorker) => self.postMessage(message);
  post({ type: "started", release });
  const server = new Server(
    (request, around) =>
      loadEngine(request, {
        ...around,
        openSource: (wanted, patience) => openSource(wanted, patience, around.signal),
        builds,
        startThread: threads.start,
        features: detectFeatures,
        cores: navigator.hardwareConcurrency,
      }),
    post,
  );
  const threads = new HelperThreads(self, () => server.loseThread());
  self.onmessage = ({ data }: MessageEvent<unknown>) => server.receive(data);
  void holdLock(self.navigator.locks).then((lock) => post({ type: "alive", lock }));
}
