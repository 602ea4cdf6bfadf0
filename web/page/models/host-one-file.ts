// Takes the place of host.ts in a page in one file: there is no host, and the model is in the page.
import type { ChosenModel } from "../state/page-state.js";
import { fetchEmbedded, isModelSpent } from "./embedded-model.js";
import { phrase } from "../language/start.js";

/** Its source is no place that anything could be fetched from. */
export const bringFirstModel = async (): Promise<ChosenModel> => ({
  source: "this-page:/model/",
  get name() {
    return phrase("ownModel");
  },
});
/** Nor may this page fetch any. */
export const mayChoose: boolean = false;
/** It is in the page already. */
export const storesModel = (): boolean => false;
export const modelFetch: typeof fetch | undefined = fetchEmbedded;

/** A model is read but once; for another time the page is. */
export async function prepareHost(): Promise<void> {
  if (!isModelSpent()) return;
  location.reload();
  await new Promise<never>(() => undefined);
}

export function afterLoad(): void {}
