// Starts the worker that lies beside this module.
import { noWorkerFailure } from "../shared/failures.js";
import { Connection, type WaitForLock } from "./connection.js";

/** Web Locks: a lock is given back whatever its holder dies of. Pages that are not served securely have none. */
const waitForLock: WaitForLock = (name, run) => {
  navigator.locks?.request(name, run).catch(() => {}); // refused to pages that are about to go
};

export function startWorker(): Connection {
  try {
    const worker = new Worker(new URL("../worker/worker.ts", import.meta.url), {
      type: "module",
      name: "gpt2",
    });
    return new Connection(worker, "gpt2-worker.js", waitForLock);
  } catch (error) {
    throw noWorkerFailure(error); // there are no workers, or none from here (file://, a content security policy)
  }
}
