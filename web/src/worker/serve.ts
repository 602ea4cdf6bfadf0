// The common part of all workers of the engine, whatever the source of their builds.
import { headersFetch } from "../loader/headers-fetch.js";
import { UrlSource, type ModelSource } from "../loader/model-source.js";
import { steadyFetch } from "../loader/steady-fetch.js";
import type { FromWorker, LoadRequest } from "../shared/protocol.js";
import { release } from "../shared/release.js";
import { HelperThreads } from "./helper-threads.js";
import { holdLock } from "./lifeline.js";
import { loadEngine } from "./load.js";
import { Server } from "./server.js";
import type { BuildSource } from "./start-engine.js";
import { detectFeatures } from "./variants.js";

declare const self: DedicatedWorkerGlobalScope & { Worker: typeof Worker };

/** `files` with a store on this device. */
async function overCache(files: ModelSource, request: LoadRequest): Promise<ModelSource> {
  // An embedder's copy of the package may lack this part.
  const cache = await import("../cache/index.js").catch(() => undefined);
  if (cache) return cache.cached(files, request);
  files.notStored = async () => "gpt2-cache.js cannot be loaded";
  return files;
}

/** Answers the page's requests with the builds from `builds`. The first message names the release. */
export function serve(builds: BuildSource): void {
  const post = (message: FromWorker) => self.postMessage(message);
  post({ type: "started", release });
  const server = new Server(
    (request, around) =>
      loadEngine(request, {
        ...around,
        async openSource(wanted, patience) {
          const { source, fetchPort } = wanted;
          const isUsual =
            source.kind === "folder" &&
            !source.orHub &&
            !source.file &&
            !wanted.weights &&
            !wanted.adapters &&
            !fetchPort;
          const files = isUsual
            ? new UrlSource(
                source.url,
                steadyFetch(headersFetch(wanted, source.url), patience, "passing"),
                source,
              )
            : await (
                await import("../sources/index.js")
              ).openSource(wanted, { patience, signal: around.signal });
          return wanted.cache ? overCache(files, wanted) : files;
        },
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
