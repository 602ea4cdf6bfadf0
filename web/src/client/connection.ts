// Requests to the worker and their answers. Every request settles exactly once, also when the worker dies.
import { errorFromWire, Gpt2Error, WorkerError } from "../shared/errors.js";
import {
  afterFailure,
  failureOf,
  forbiddenWorker,
  mixedReleases,
  noWorkerFailure,
  workerFailure,
} from "../shared/failures.js";
import type { PolicyWatch } from "../shared/policy.js";
import type { FromWorker, RequestName, Requests, ToWorker } from "../shared/protocol.js";
import { release } from "../shared/release.js";
import { runCallback } from "./run-callback.js";
import { watchNetwork } from "./watch-network.js";
import { limits } from "../shared/wire.js";
import { isAnswer, readAnswer } from "./read-answer.js";

/** As a method, it may also be a listener of the DOM's own events, whose types programs for Node.js lack. */
type Listener<Event> = { hear(event: Event): void }["hear"] | null;

/** The part of Worker that a connection uses. */
export interface WorkerPort {
  postMessage(message: ToWorker, transfer?: object[]): void;
  terminate(): void;
  onmessage: Listener<{ data: unknown }>;
  onerror: Listener<{ message?: string; error?: unknown }>;
  onmessageerror: Listener<{ data: unknown }>;
}

/** The part of navigator.locks that a connection uses: calls `run` when the lock `name` is free. */
export type WaitForLock = (name: string, run: () => void) => void;

interface Pending {
  name: RequestName;
  onEvent: (event: Requests[RequestName]["event"]) => void;
  resolve: (result: Requests[RequestName]["result"]) => void;
  reject: (error: unknown) => void;
  /** Kept alive until the answer arrives. */
  owner: unknown;
}

export interface RequestOptions<K extends RequestName> {
  signal?: AbortSignal | undefined;
  onEvent?: ((event: Requests[K]["event"]) => void) | undefined;
  owner?: unknown;
  /** The objects among the arguments that are transferred to the worker. */
  transfer?: object[] | undefined;
}

export interface OpenRequest<K extends RequestName> {
  result: Promise<Requests[K]["result"]>;
  /** Reports how many more of its tokens were read. */
  read(tokens: number): void;
  /** Cancels the request; has no effect after it settled. */
  cancel: (reason: unknown) => void;
}

/** The worker ends its engine within milliseconds. If a long step delays that, the worker is terminated. */
const endMs = 1000;

export class Connection {
  /** Called when the worker reports changes of these fields. */
  onInfo: (message: Extract<FromWorker, { type: "info" }>) => void = () => {};

  /** Called when no more requests are possible: after disposal, or when the worker died. */
  onEnd: () => void = () => {};

  private readonly pending = new Map<number, Pending>();
  private nextId = 1;
  private ended: Gpt2Error | undefined;
  private hasRun = false;
  private terminate: () => void = () => {};
  /** Settles when the worker has ended. */
  private readonly terminated: Promise<void>;

  private readonly worker: WorkerPort;
  /** The script's name, for messages. */
  private readonly script: string;
  private readonly waitForLock: WaitForLock;
  private readonly unwatchNetwork: () => void;
  private readonly policy: PolicyWatch | undefined;

  /** `policy` was created before the worker started; the connection ends it. */
  constructor(worker: WorkerPort, script: string, waitForLock: WaitForLock = () => {}, policy?: PolicyWatch) {
    this.worker = worker;
    this.policy = policy;
    this.script = script;
    this.waitForLock = waitForLock;

    this.terminated = new Promise((resolve) => {
      this.terminate = () => {
        worker.terminate();
        resolve();
      };
    });
    this.unwatchNetwork = watchNetwork(() => worker.postMessage({ type: "online" }));
    worker.onmessage = ({ data }) => this.receive(data);
    worker.onerror = ({ message, error }) => {
      const blocked = this.hasRun ? undefined : policy?.blockedBy("worker-src");
      if (blocked !== undefined) return this.die(forbiddenWorker(this.script, blocked));
      // `error` is set only if the worker could not be created: browsers do not pass on errors of other threads.
      const notMade = this.hasRun ? undefined : error;
      this.die(notMade ? noWorkerFailure(notMade) : workerFailure(message, this.hasRun, this.script));
    };
    worker.onmessageerror = () =>
      this.die(new WorkerError("worker-died", "the engine's worker sent an unreadable message"));
  }

  request<K extends RequestName>(
    name: K,
    args: Requests[K]["args"],
    options: RequestOptions<K> = {},
  ): Promise<Requests[K]["result"]> {
    return this.open(name, args, options).result;
  }

  open<K extends RequestName>(
    name: K,
    args: Requests[K]["args"],
    { signal, onEvent, owner, transfer = [] }: RequestOptions<K> = {},
  ): OpenRequest<K> {
    const id = this.nextId++;
    const cancel = (reason: unknown) => {
      const request = this.pending.get(id);
      if (!request) return;
      this.worker.postMessage({ type: "cancel", id });
      request.reject(reason);
    };
    const result = new Promise<Requests[K]["result"]>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.ended) return reject(this.ended);
      if (this.pending.size >= limits.requests) {
        return reject(
          new Gpt2Error("capacity", `more than ${limits.requests} requests are waiting for their answers`),
        );
      }
      const onAbort = () => cancel(signal?.reason);
      const settle = () => {
        this.pending.delete(id);
        signal?.removeEventListener("abort", onAbort);
      };
      this.pending.set(id, {
        name,
        onEvent: (event) => runCallback(onEvent, event, cancel),
        resolve: (answer) => {
          settle();
          resolve(answer);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
        owner,
      });
      signal?.addEventListener("abort", onAbort);
      try {
        this.worker.postMessage({ type: "request", id, name, args } as ToWorker, transfer);
      } catch (error) {
        this.pending.get(id)?.reject(failureOf(error));
      }
    });
    const read = (tokens: number) => {
      if (this.pending.has(id)) this.worker.postMessage({ type: "read", id, tokens });
    };
    return { result, read, cancel };
  }

  /** Rejects waiting requests and ends the worker; resolves when it has ended. */
  dispose(): Promise<void> {
    if (!this.ended) {
      this.end(new WorkerError("disposed", "the model was disposed of"));
      // Waiting threads would keep a terminated worker and its memory alive for seconds, so the worker ends them itself.
      this.worker.postMessage({ type: "end" });
      const timer = setTimeout(this.terminate, endMs);
      void this.terminated.then(() => clearTimeout(timer));
    }
    return this.terminated;
  }

  private receive(data: unknown): void {
    if (!isAnswer(data)) return;
    this.hasRun = true;
    this.policy?.end();
    let message: FromWorker;
    try {
      message = readAnswer(data, (id) => this.pending.get(id)?.name);
    } catch (error) {
      const what = error instanceof Error ? error.message : "";
      return this.die(
        new WorkerError("worker-died", `${this.script} has sent an unexpected message: ${what}`),
      );
    }
    this.take(message);
  }

  private take(message: FromWorker): void {
    switch (message.type) {
      case "event":
        return this.pending.get(message.id)?.onEvent(message.event);
      case "done":
        return this.pending.get(message.id)?.resolve(message.result);
      case "failed": {
        const error = errorFromWire(message.error);
        this.pending.get(message.id)?.reject(error);
        if (error.code === "worker-died") this.die(error);
        return;
      }
      case "info":
        return this.onInfo(message);
      case "started":
        if (message.release !== release) this.die(mixedReleases(this.script, message.release));
        return;
      case "alive":
        if (message.lock !== null) {
          this.waitForLock(message.lock, () =>
            this.die(new WorkerError("worker-died", "the browser ended the engine's worker")),
          );
        }
        return;
      case "ended":
        return this.terminate();
    }
  }

  private end(error: Gpt2Error): void {
    this.unwatchNetwork();
    this.ended = error;
    this.policy?.end();
    this.onEnd();
    for (const request of [...this.pending.values()]) request.reject(error);
  }

  /** Ends the connection: no more requests are possible. */
  private die(error: Gpt2Error): void {
    if (!this.ended) {
      this.end(error);
      this.ended = afterFailure(error);
    }
    this.terminate();
  }
}
