// What every worker of the engine does, wherever its builds come from.
import { UrlSource } from "../loader/model-source.js";
import { folderFetch } from "../loader/page-fetch.js";
import { steadyFetch, usualStallMs } from "../loader/steady-fetch.js";
import type { FromWorker, ToWorker } from "../shared/protocol.js";
import { release } from "../shared/release.js";
import { watchWorkers } from "./helper-threads.js";
import { holdLock } from "./lifeline.js";
import { loadEngine } from "./load.js";
import { Server } from "./server.js";
import type { BuildSource } from "./start-engine.js";
import { detectFeatures } from "./variants.js";

declare const self: DedicatedWorkerGlobalScope & { Worker: typeof Worker };

/** Answers the page's requests with the builds from `builds`, from now on. */
export function serve(builds: BuildSource): void {
  const post = (message: FromWorker) => self.postMessage(message);
  const server = new Server(
    (request, around) =>
      loadEngine(request, {
        ...around,
        openFolder: (wanted, onRetry) => {
          const { stallMs = usualStallMs } = wanted;
          return new UrlSource(wanted.folder, steadyFetch(folderFetch(wanted), { stallMs, onRetry }));
        },
        builds,
        startThreadsFrom: threads.startFrom,
        features: detectFeatures,
        cores: navigator.hardwareConcurrency,
      }),
    post,
  );
  const threads = watchWorkers(self, () => server.loseThread());
  post({ type: "started", release });
  self.onmessage = ({ data }: MessageEvent<ToWorker>) => server.receive(data);
  void holdLock(self.navigator.locks).then((lock) => post({ type: "alive", lock }));
}
