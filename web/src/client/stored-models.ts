// Has the module that knows of stored models loaded when somebody asks.
import type { StorageInfo, StoredModel } from "../shared/types.js";

const load = () => import("../cache/index.js");

/** The models that are stored on this device by pages of this origin, the one that was loaded last first. */
export const listModels = async (): Promise<StoredModel[]> => (await load()).listModels();

/** Removes a model from this device, by its id or its address. Resolves to whether there was one. */
export const removeModel = async (id: string): Promise<boolean> => (await load()).removeModel(id);

/**
 * Keeps a stored model until the user removes it, however short of room others are, and asks the browser to persist what
 * this origin stores; `keep` false takes that back. Resolves to whether the model is kept and the browser has agreed.
 */
export const keepModel = async (id: string, keep?: boolean): Promise<boolean> =>
  (await load()).keepModel(id, keep);

/** Where models are stored, what they take, and what the browser gives this origin. */
export const storage = async (): Promise<StorageInfo> => (await load()).storage();
