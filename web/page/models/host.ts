// What the page gets from the host that it came from. In a page in one file, host-one-file.ts takes its place.
import { baseAddress } from "../../src/shared/base-address.js";
import type { ChosenModel } from "../state/page-state.js";
import { ensureIsolation } from "./isolation.js";
import { keepForOffline, startServiceWorker } from "./service-worker.js";

const query = new URLSearchParams(location.search);
const named = query.get("model");

/** The demo, which lies beside the page. */
function ownModel(): ChosenModel {
  const source = new URL("models/demo/", baseAddress());
  const weights = query.get("weights") === "q4" ? "q4" : undefined;
  return { source, name: "demo", folder: source.href, weights, isOwn: true };
}

/** The model that the page begins with. What reads an address is fetched only for pages with an address of a model. */
export async function bringFirstModel(): Promise<ChosenModel> {
  if (named === null) return ownModel();
  const { folderModel } = await import("./chosen-model.js");
  return folderModel(named, query.get("weights"));
}
/** Whether there can be another one. */
export const mayChoose: boolean = true;
/** Whether the module stores `model`: the demo is kept with the page, by its service worker. */
export const storesModel = (model: ChosenModel): boolean => !model.isOwn;
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
