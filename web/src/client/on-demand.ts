// Calls of parts that are loaded on first use: stored models, and what this page's environment has and lacks.
import type { Environment } from "./environment.js";
import type { StorageInfo, StoredModel } from "../shared/types.js";

const load = () => import("../model/store/index.js");

/** The models that pages of this origin have stored on this device, the last loaded one first. */
export const listModels = async (): Promise<StoredModel[]> => (await load()).listModels();

/** Removes a stored model by its id or its address. Resolves to whether there was one. */
export const removeModel = async (id: string): Promise<boolean> => (await load()).removeModel(id);

/**
 * Never evicts a stored model to make room for others, and asks the browser to persist the storage of this origin. `keep`
 * false undoes that. Resolves to whether the model is kept and the browser has agreed.
 */
export const keepModel = async (id: string, keep?: boolean): Promise<boolean> =>
  (await load()).keepModel(id, keep);

/** Where models are stored, how many bytes they take, and how many bytes the browser gives this origin. */
export const storage = async (): Promise<StorageInfo> => (await load()).storage();

/** The features that this page has and lacks, each with the reason and with how to enable it. */
export async function explainEnvironment(): Promise<Environment> {
  return (await import("./environment.js")).explainEnvironment();
}
