// A thread of Node.js with the interface of a browser's Worker, as far as helper threads use it (worker/helper-threads.ts).
import { Worker } from "node:worker_threads";

export class ThreadAsWorker extends EventTarget {
  private readonly thread: Worker;

  constructor(script: string | URL, { name = "" }: WorkerOptions = {}) {
    super();
    this.thread = new Worker(new URL("./gpt2-node-worker.js", import.meta.url), {
      workerData: { script: String(script), name },
      execArgv: [],
    });
    this.thread.on("error", (error) =>
      this.dispatchEvent(Object.assign(new Event("error", { cancelable: true }), { message: String(error) })),
    );
    this.thread.unref();
  }

  postMessage(message: unknown): void {
    this.thread.postMessage(message);
  }
}
