// What the page says to its service worker.

export type ToServiceWorker =
  /** Keep what is not kept yet, the demo model only if the page shows it. Answered through the port: whether all is. */
  | { type: "keep"; model: boolean }
  /** Control the pages that are open. */
  | { type: "claim" }
  /** Take the place of the release that runs. */
  | { type: "take-over" };
