// A thread of Node.js with the interface of a browser's Worker, as far as Emscripten uses it.
import { Worker, type Transferable } from "node:worker_threads";

export class ThreadAsWorker extends EventTarget {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;
  private readonly thread: Worker;

  constructor(script: string | URL, { name = "" }: WorkerOptions = {}) {
    super();
    this.thread = new Worker(new URL("./gpt2-node-worker.js", import.meta.url), {
      workerData: { script: String(script), name },
      execArgv: [],
    });
    this.thread.on("message", (data) => this.onmessage?.({ data }));
    this.thread.on("error", (error) => {
      const event = Object.assign(new Event("error", { cancelable: true }), { message: String(error) });
      // The first listener may keep it from the others.
      const state = { isStopped: false };
      event.stopImmediatePropagation = () => void (state.isStopped = true);
      this.dispatchEvent(event);
      if (!state.isStopped) this.onerror?.(event);
    });
    this.thread.unref();
  }

  postMessage(message: unknown, transfer: readonly unknown[] = []): void {
    this.thread.postMessage(message, transfer as Transferable[]);
  }

  terminate(): void {
    void this.thread.terminate();
  }
}
