// Starts the worker that lies beside this module.
import type { WorkerPort } from "./connection.js";

export function startWorker(): WorkerPort {
  return new Worker(new URL("../worker/worker.ts", import.meta.url), { type: "module", name: "gpt2" });
}
