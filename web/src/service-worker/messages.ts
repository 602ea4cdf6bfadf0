// Messages from the page to its service worker.

export type ToServiceWorker =
  /**
   * Store the files that are not stored yet, the demo model only if the page uses it. The answer through the port says
   * whether all are stored.
   */
  | { type: "keep"; model: boolean }
  /** Control the open pages. */
  | { type: "claim" }
  /** Replace the running release. */
  | { type: "take-over" };
