// Requests to the worker and their answers. Every request settles exactly once, also when the worker dies.
import { errorFromWire, WorkerError } from "../shared/errors.js";
import {
  cancelledCode,
  type FromWorker,
  type RequestName,
  type Requests,
  type ToWorker,
} from "../shared/protocol.js";

/** The part of Worker that a connection uses. */
export interface WorkerPort {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromWorker>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  onmessageerror: ((event: MessageEvent) => void) | null;
}

interface Pending {
  onEvent: (event: Requests[RequestName]["event"]) => void;
  resolve: (result: Requests[RequestName]["result"]) => void;
  reject: (error: unknown) => void;
}

export interface RequestOptions<K extends RequestName> {
  signal?: AbortSignal | undefined;
  onEvent?: ((event: Requests[K]["event"]) => void) | undefined;
}

export class Connection {
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;
  private ended: WorkerError | undefined;

  constructor(private readonly worker: WorkerPort) {
    worker.onmessage = ({ data }) => this.receive(data);
    // A script that cannot be fetched gives an event without a message.
    worker.onerror = ({ message }) =>
      this.end(
        new WorkerError("worker-died", `the worker failed: ${message ?? "its script cannot be loaded"}`),
      );
    worker.onmessageerror = () =>
      this.end(new WorkerError("worker-died", "the worker sent what cannot be read"));
  }

  request<K extends RequestName>(
    name: K,
    args: Requests[K]["args"],
    { signal, onEvent }: RequestOptions<K> = {},
  ): Promise<Requests[K]["result"]> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.ended) return reject(this.ended);
      const id = this.nextId++;
      const cancel = () => this.worker.postMessage({ type: "cancel", id });
      const settle = () => signal?.removeEventListener("abort", cancel);
      this.pending.set(id, {
        onEvent: (event) => onEvent?.(event as Requests[K]["event"]),
        resolve: (result) => {
          settle();
          resolve(result as Requests[K]["result"]);
        },
        reject: (error) => {
          settle();
          const isCancelled = error instanceof Error && "code" in error && error.code === cancelledCode;
          reject(isCancelled && signal ? signal.reason : error);
        },
      });
      signal?.addEventListener("abort", cancel);
      this.worker.postMessage({ type: "request", id, name, args } as ToWorker);
    });
  }

  /** Ends the worker; what waits for it is rejected. */
  dispose(): void {
    this.end(new WorkerError("disposed", "the model was disposed of"));
  }

  private receive(message: FromWorker): void {
    const request = this.pending.get(message.id);
    if (!request) return; // already rejected
    switch (message.type) {
      case "event":
        return request.onEvent(message.event);
      case "done":
        this.pending.delete(message.id);
        return request.resolve(message.result);
      case "failed":
        this.pending.delete(message.id);
        return request.reject(errorFromWire(message.error));
    }
  }

  private end(error: WorkerError): void {
    if (this.ended) return;
    this.ended = error;
    this.worker.terminate();
    for (const request of this.pending.values()) request.reject(error);
    this.pending.clear();
  }
}
