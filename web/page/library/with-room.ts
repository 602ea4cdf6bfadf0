// Makes room for the texts on a full device: a model can be downloaded again, a text cannot.
import { listModels, removeModel } from "../../src/client/index.js";

const isFull = (error: unknown) => (error as Error | null)?.name === "QuotaExceededError";

/** Removes the model that was used least recently, and is not kept. Resolves to whether there was one. */
async function removeOldestModel(): Promise<boolean> {
  const oldest = (await listModels()).filter(({ isKept }) => !isKept).at(-1);
  return oldest !== undefined && removeModel(oldest.id);
}

/** Calls `write`. While the device is full, removes a model and calls it again. */
export async function withRoom<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isFull(error) || !(await removeOldestModel().catch(() => false))) throw error;
    }
  }
}
