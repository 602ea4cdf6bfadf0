// Starts the worker out of memory. Takes the place of start-worker.ts in gpt2.bundle.js and in pages in one file.
import { noWorkerFailure } from "../shared/failures.js";
import { trusted } from "../shared/script-address.js";
import { refuse } from "./arguments.js";
import { Connection } from "./connection.js";
import { waitForLock } from "./wait-for-lock.js";

declare const GPT2_WORKER: string; // the worker's script, put in by web/scripts/one-file.mjs

/** The script's address: made when it is first needed, and kept for the next worker. */
let address: string | undefined;

export function startWorker(baseUrl?: string): Connection {
  if (baseUrl !== undefined) {
    return refuse("baseUrl has no effect: worker and engine are in this file");
  }
  address ??= URL.createObjectURL(new Blob([GPT2_WORKER], { type: "text/javascript" }));
  try {
    const worker = new Worker(trusted(address), { name: "gpt2" });
    return new Connection(worker, "in this file", waitForLock);
  } catch (error) {
    throw noWorkerFailure(error); // there are no workers, or none from blobs (a content security policy)
  }
}
