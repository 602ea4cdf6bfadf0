// Web Locks: a lock is given back whatever its holder dies of. Pages that are not served securely have none.
import type { WaitForLock } from "./connection.js";

export const waitForLock: WaitForLock = (name, run) => {
  (navigator as Partial<Navigator>).locks?.request(name, run).catch(() => {}); // refused to pages that are about to go
};
