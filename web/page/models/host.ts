// What the page gets from the host that it came from. In a page in one file, host-one-file.ts takes its place.
import { folderModel } from "./chosen-model.js";
import type { ChosenModel } from "../state/page-state.js";
import { ensureIsolation } from "./isolation.js";
import { keepForOffline, startServiceWorker } from "./service-worker.js";

const query = new URLSearchParams(location.search);
const named = query.get("model");

/** The model that the page begins with. */
export const firstModel: ChosenModel = folderModel(named ?? "models/demo/", query.get("weights"));
/** Whether there can be another one. */
export const mayChoose: boolean = true;
/** Whether `model` is the demo, which the page's service worker keeps with the page. */
export const isOwnModel = (model: ChosenModel): boolean => model === firstModel && named === null;
/** Whether the module stores `model`. */
export const storesModel = (model: ChosenModel): boolean => !isOwnModel(model);
/** What its files are asked for with; undefined: as usual. */
export const modelFetch: typeof fetch | undefined = undefined;

/** Brings the page, before it loads a model, what its host does not give it; may reload it. */
export async function prepareHost(signal: AbortSignal): Promise<void> {
  if (await startServiceWorker(signal)) await ensureIsolation(signal);
  signal.throwIfAborted();
}

/** To be called when `model` is there. */
export function afterLoad(model: ChosenModel): void {
  keepForOffline(!storesModel(model));
}
