// Web Locks: the browser releases a lock when its holder ends for any reason. Only secure pages have them.
import type { WaitForLock } from "./connection.js";

export const waitForLock: WaitForLock = (name, run) => {
  const { locks } = navigator as Partial<Navigator>;
  if (!locks) return;
  const wait = async () => {
    // After the site's data is cleared, Chromium uses new locks for new workers and the old ones for the open page. A
    // lock that a worker holds then looks free to the page, so nothing can be concluded from it.
    const { held = [] } = await locks.query();
    if (held.some((lock) => lock.name === name)) await locks.request(name, run);
  };
  wait().catch(() => {}); // the browser refuses locks to pages that are closing
};
