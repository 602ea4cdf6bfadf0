// Makes room for the texts on a full device: a model can be downloaded again, a text cannot.
import { isFull } from "../../src/model/store/store.js";

/** Loaded only on a full device. */
const evictOne = async () => (await import("../../src/model/store/models.js")).evictOne();

/** Calls `write`. While the device is full, removes a model or files that no model needs, and calls it again. */
export async function withRoom<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isFull(error) || !(await evictOne().catch(() => false))) throw error;
    }
  }
}
