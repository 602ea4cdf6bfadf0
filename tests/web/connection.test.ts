import { describe, expect, it } from "vitest";
import { Connection, type WorkerPort } from "../../web/src/client/connection.js";
import { InvalidArgumentError, WorkerError } from "../../web/src/shared/errors.js";
import type { FromWorker, ToWorker } from "../../web/src/shared/protocol.js";

/** A worker that records what it is told and says what the test wants. */
class FakeWorker implements WorkerPort {
  readonly received: ToWorker[] = [];
  isTerminated = false;
  onmessage: WorkerPort["onmessage"] = null;
  onerror: WorkerPort["onerror"] = null;
  onmessageerror: WorkerPort["onmessageerror"] = null;

  postMessage(message: ToWorker): void {
    this.received.push(message);
  }
  terminate(): void {
    this.isTerminated = true;
  }
  say(message: FromWorker): void {
    this.onmessage?.({ data: message } as MessageEvent<FromWorker>);
  }
  die(): void {
    this.onerror?.({ message: "out of memory" } as ErrorEvent);
  }
}

function connect(): { worker: FakeWorker; connection: Connection } {
  const worker = new FakeWorker();
  return { worker, connection: new Connection(worker) };
}

describe("Connection", () => {
  it("gives each request its own answer, in any order", async () => {
    const { worker, connection } = connect();
    const first = connection.request("detokenize", [1]);
    const second = connection.request("detokenize", [2]);
    worker.say({ type: "done", id: 2, result: "two" });
    worker.say({ type: "done", id: 1, result: "one" });
    expect(await first).toBe("one");
    expect(await second).toBe("two");
  });

  it("turns wire errors into classes with their code", async () => {
    const { worker, connection } = connect();
    const request = connection.request("detokenize", [1]);
    worker.say({ type: "failed", id: 1, error: { code: "invalid-argument", message: "bad id" } });
    await expect(request).rejects.toThrow(InvalidArgumentError);
    await expect(request).rejects.toMatchObject({ code: "invalid-argument", message: "bad id" });
  });

  it("rejects everything that waits when the worker dies, and whatever comes after", async () => {
    const { worker, connection } = connect();
    const requests = [connection.request("detokenize", [1]), connection.request("detokenize", [2])];
    worker.die();
    for (const request of requests) await expect(request).rejects.toMatchObject({ code: "worker-died" });
    await expect(connection.request("detokenize", [3])).rejects.toThrow(WorkerError);
    expect(worker.isTerminated).toBe(true);
  });

  it("rejects what waits when it is disposed of", async () => {
    const { connection } = connect();
    const request = connection.request("detokenize", [1]);
    connection.dispose();
    await expect(request).rejects.toMatchObject({ code: "disposed" });
  });

  it("passes an abort on and rejects with the signal's reason", async () => {
    const { worker, connection } = connect();
    const controller = new AbortController();
    const request = connection.request("detokenize", [1], { signal: controller.signal });
    controller.abort(new Error("enough"));
    expect(worker.received.at(-1)).toEqual({ type: "cancel", id: 1 });
    worker.say({ type: "failed", id: 1, error: { code: "cancelled", message: "cancelled" } });
    await expect(request).rejects.toThrow("enough");
  });

  it("sends nothing for a signal that was aborted before", async () => {
    const { worker, connection } = connect();
    const request = connection.request("detokenize", [1], { signal: AbortSignal.abort(new Error("late")) });
    await expect(request).rejects.toThrow("late");
    expect(worker.received).toEqual([]);
  });

  it("ignores messages for requests that have ended", async () => {
    const { worker, connection } = connect();
    const request = connection.request("detokenize", [1]);
    worker.say({ type: "done", id: 1, result: "one" });
    worker.say({ type: "failed", id: 1, error: { code: "internal", message: "again" } });
    expect(await request).toBe("one");
  });
});
