// What the page gets from its host. In a page in one file, host-one-file.ts replaces it.
import { baseAddress } from "../../src/shared/base-address.js";
import type { ChosenModel } from "../state/page-state.js";
import { ensureIsolation } from "./isolation.js";
import { keepForOffline, startServiceWorker } from "./service-worker.js";

const query = new URLSearchParams(location.search);
const named = query.get("model");

/** The demo model, which is beside the page. */
function ownModel(): ChosenModel {
  const source = new URL("models/demo/", baseAddress());
  const weights = query.get("weights") === "q4" ? "q4" : undefined;
  return { source, name: "demo", folder: source.href, weights, isOwn: true };
}

/**
 * The model that the page starts with. The code that reads addresses is fetched only if the page's address names a
 * model.
 */
export async function bringFirstModel(): Promise<ChosenModel> {
  if (named === null) return ownModel();
  const { folderModel } = await import("./chosen-model.js");
  return folderModel(named, query.get("weights"));
}
/** Whether another model can be chosen. */
export const mayChoose: boolean = true;
/** Whether the module stores `model`. The service worker stores the demo model together with the page. */
export const storesModel = (model: ChosenModel): boolean => !model.isOwn;
/** The `fetch` for a model's files; undefined: the default. */
export const modelFetch: typeof fetch | undefined = undefined;

/** Prepares what the host lacks before a model is loaded; may reload the page. */
export async function prepareHost(signal: AbortSignal): Promise<void> {
  if (await startServiceWorker(signal)) await ensureIsolation(signal);
  signal.throwIfAborted();
}

/** Call this when `model` is loaded. */
export function afterLoad(model: ChosenModel): void {
  keepForOffline(!storesModel(model));
}
