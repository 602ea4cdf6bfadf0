// What the page gets from the host that it came from. In a page in one file, host-one-file.ts takes its place.
import { ensureIsolation } from "./isolation.js";
import { offerSaving } from "./saving.js";
import { keepForOffline, startServiceWorker } from "./service-worker.js";

const chosen = new URLSearchParams(location.search).get("model");

/** The folder of the model, relative to the page. */
export const modelFolder = chosen ?? "models/demo/";
/** What its files are asked for with; undefined: as usual. */
export const modelFetch: typeof fetch | undefined = undefined;

/** Brings the page, before it loads a model, what its host does not give it; may reload it. */
export async function prepareHost(signal: AbortSignal): Promise<void> {
  if (await startServiceWorker(signal)) await ensureIsolation(signal);
  signal.throwIfAborted();
}

/** To be called when the model is there. */
export function afterLoad(): void {
  keepForOffline(chosen === null);
  offerSaving(modelFolder);
}
