// Starts the worker out of memory. Takes the place of start-worker.ts in gpt2.bundle.js and in pages in one file.
import { noWorkerFailure } from "../shared/failures.js";
import { inflate, type Packed } from "../shared/inflate.js";
import { trusted } from "../shared/script-address.js";
import { refuse } from "../shared/refuse.js";
import { Connection } from "./connection.js";
import { waitForLock } from "./wait-for-lock.js";

/** Put in by web/scripts/one-file.mjs: what comes before the worker's script, and that, packed. */
declare const GPT2_WORKER: { engine: string; script: Packed };

/** The script's address: made when it is first needed, and kept for the next worker. */
let address: string | undefined;

async function prepare(): Promise<void> {
  if (address !== undefined) return;
  const { engine, script } = GPT2_WORKER; // named once, as all of it is put in wherever it is named
  const parts = [engine, await inflate(script)];
  address ??= URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
}

export const startWorker = Object.assign(
  (baseUrl?: string): Connection => {
    if (baseUrl !== undefined) {
      return refuse("baseUrl has no effect: worker and engine are in this file");
    }
    try {
      const worker = new Worker(trusted(address ?? ""), { name: "gpt2" });
      return new Connection(worker, "in this file", waitForLock);
    } catch (error) {
      throw noWorkerFailure(error); // there are no workers, or none from blobs (a content security policy)
    }
  },
  { prepare },
);
