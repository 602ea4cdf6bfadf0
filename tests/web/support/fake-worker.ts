import { Connection, type WorkerPort } from "../../../web/src/client/connection.js";
import type { FromWorker, ToWorker } from "../../../web/src/shared/protocol.js";

/** A worker that records its messages and sends those of the test. */
export class FakeWorker implements WorkerPort {
  readonly received: ToWorker[] = [];
  terminations = 0;
  /** The errors that the browser does not report to the page. */
  hiddenErrors = 0;
  onmessage: WorkerPort["onmessage"] = null;
  onerror: WorkerPort["onerror"] = null;
  onmessageerror: WorkerPort["onmessageerror"] = null;

  postMessage(message: ToWorker, transfer: Transferable[] = []): void {
    this.received.push(structuredClone(message, { transfer }));
  }
  terminate(): void {
    this.terminations += 1;
  }
  say(message: FromWorker): void {
    this.onmessage?.({ data: message });
  }
  /** Reports an uncaught exception as a browser does, or, without a message, a missing script. */
  fail(message?: string): void {
    const returned: unknown = this.onerror?.({ message } as ErrorEvent);
    if (returned === false) this.hiddenErrors += 1;
  }
  /** Releases the lock that the worker holds. */
  releaseLock: () => void = () => {
    throw new Error("nobody waits for the lock");
  };
  /** The received messages of a type. */
  all<T extends ToWorker["type"]>(type: T): Extract<ToWorker, { type: T }>[] {
    return this.received.filter(
      (message): message is Extract<ToWorker, { type: T }> => message.type === type,
    );
  }
}

export function connect(): { worker: FakeWorker; connection: Connection; locks: string[] } {
  const worker = new FakeWorker();
  const locks: string[] = [];
  const connection = new Connection(worker, "worker.js", (name, run) => {
    locks.push(name);
    worker.releaseLock = run;
  });
  return { worker, connection, locks };
}
