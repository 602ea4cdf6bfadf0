// Starts the worker from memory. Replaces start-worker.ts in gpt2.bundle.js and in pages in one file.
import { noWorkerFailure } from "../shared/failures.js";
import { refuse } from "../shared/refuse.js";
import { Connection } from "./connection.js";
import { prepareInlined, startPrepared } from "./inlined-worker.js";
import { waitForLock } from "./wait-for-lock.js";

export const startWorker = Object.assign(
  (baseUrl?: string): Connection => {
    if (baseUrl !== undefined) {
      return refuse("baseUrl has no effect: worker and engine are in this file");
    }
    try {
      return new Connection(startPrepared(), "in this file", waitForLock);
    } catch (error) {
      throw noWorkerFailure(error); // there are no workers, or none from blobs (a content security policy)
    }
  },
  { prepare: prepareInlined },
);
