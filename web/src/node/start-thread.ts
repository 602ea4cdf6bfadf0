// Starts the worker as a thread of Node.js.
import { Worker, type Transferable } from "node:worker_threads";
import { Connection, type WorkerPort } from "../client/connection.js";
import { LoadError } from "../shared/errors.js";
import type { FromWorker, ToWorker } from "../shared/protocol.js";

const script = "gpt2-node-worker.js";

/** The error for a thread that did not start. A bundler may have left files of it behind. */
const notStarted = (error: unknown) =>
  new LoadError(
    "unsupported",
    `${script} does not start (${String(error)}). If you bundle your program, mark "gpt2-wasm" as external ` +
      `(esbuild, rolldown: external; Vite: ssr.external; Next.js: serverExternalPackages)`,
  );

/**
 * Keeps the process alive only while an answer is awaited. A program may end without disposing of anything, and without
 * reading a generation to its end.
 */
class ThreadPort implements WorkerPort {
  onmessage: WorkerPort["onmessage"] = null;
  onerror: WorkerPort["onerror"] = null;
  onmessageerror: WorkerPort["onmessageerror"] = null;
  /** How many tokens each unanswered request may write before it waits for its reader. */
  private readonly awaited = new Map<number, number>();

  private readonly thread: Worker;

  constructor(thread: Worker) {
    this.thread = thread;

    thread.on("message", (data: FromWorker) => {
      if (data.type === "done" || data.type === "failed") this.settle(data.id);
      if (data.type === "event" && "tokens" in data.event) this.allow(data.id, -data.event.tokens.length);
      this.onmessage?.({ data });
    });
    thread.on("messageerror", (error) => this.onmessageerror?.({ data: error }));
    thread.on("error", (error) => this.onerror?.({ message: String(error), error: notStarted(error) }));
    thread.unref();
  }

  postMessage(message: ToWorker, transfer: readonly unknown[] = []): void {
    if (message.type === "request") {
      this.awaited.set(message.id, message.name === "generate" ? message.args.ahead : Infinity);
      this.thread.ref();
    }
    if (message.type === "read") this.allow(message.id, message.tokens);
    if (message.type === "cancel") this.settle(message.id);
    this.thread.postMessage(message, transfer as Transferable[]);
  }

  terminate(): void {
    void this.thread.terminate();
  }

  private allow(id: number, tokens: number): void {
    const left = this.awaited.get(id);
    if (left !== undefined) this.awaited.set(id, left + tokens);
    this.holdProcess();
  }

  private settle(id: number): void {
    this.awaited.delete(id);
    this.holdProcess();
  }

  private holdProcess(): void {
    if ([...this.awaited.values()].some((left) => left > 0)) this.thread.ref();
    else this.thread.unref();
  }
}

/** The worker of the folder `baseUrl`, absolute and with a slash at the end; else the one beside this module. */
export function startThread(baseUrl?: string): Connection {
  try {
    const address =
      baseUrl === undefined ? new URL("./gpt2-node-worker.js", import.meta.url) : new URL(script, baseUrl);
    // Without the program's own options, such as a loader of its sources or the kind of text after --eval.
    return new Connection(new ThreadPort(new Worker(address, { execArgv: [] })), script);
  } catch (error) {
    throw notStarted(error); // bundled as CommonJS, a module has no address
  }
}
