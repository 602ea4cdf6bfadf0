// Replaces host.ts in a page in one file: there is no host, and the model is in the page.
import type { ChosenModel } from "../state/page-state.js";
import { fetchEmbedded, isModelSpent } from "./embedded-model.js";
import { phrase } from "../language/start.js";

/** The source names no place to fetch from. */
export const bringFirstModel = async (): Promise<ChosenModel> => ({
  source: "this-page:/model/",
  get name() {
    return phrase("ownModel");
  },
});
/** This page may not fetch another model. */
export const mayChoose: boolean = false;
/** The model is already in the page. */
export const storesModel = (): boolean => false;
export const modelFetch: typeof fetch | undefined = fetchEmbedded;

/** The model's elements can be read only once, so the page is reloaded for another load. */
export async function prepareHost(): Promise<void> {
  if (!isModelSpent()) return;
  location.reload();
  await new Promise<never>(() => undefined);
}

export function afterLoad(): void {}
