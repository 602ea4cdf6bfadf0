import { Connection, type WorkerPort } from "../../../web/src/client/connection.js";
import { loadThrough } from "../../../web/src/client/load-model.js";
import type { FromWorker, ToWorker } from "../../../web/src/shared/protocol.js";
import { Server } from "../../../web/src/worker/server.js";
import { FakeEngine, loadsAtOnce } from "./fake-engine.js";

// A global of a page that Node.js lacks.
Object.assign(globalThis, { location: { href: "http://host/page/index.html" } });

/** The worker's side in the same process: messages are copied and arrive later, as between threads. */
class ServerPort implements WorkerPort {
  isTerminated = false;
  readonly sent: ToWorker[] = [];
  readonly said: FromWorker[] = [];
  onmessage: WorkerPort["onmessage"] = null;
  onerror: WorkerPort["onerror"] = null;
  onmessageerror: WorkerPort["onmessageerror"] = null;
  private readonly server: Server;

  constructor(engine: FakeEngine) {
    this.server = new Server(loadsAtOnce(engine), (message) => {
      const copy = structuredClone(message);
      this.said.push(copy);
      this.later(() => this.onmessage?.({ data: copy }));
    });
  }
  postMessage(message: ToWorker, transfer: Transferable[] = []): void {
    const copy = structuredClone(message, { transfer });
    this.sent.push(copy);
    this.later(() => this.server.receive(copy));
  }
  terminate(): void {
    this.isTerminated = true;
  }
  private later(run: () => void): void {
    setImmediate(() => !this.isTerminated && run());
  }
}

export async function loadFake() {
  const engine = new FakeEngine();
  const port = new ServerPort(engine);
  const model = await loadThrough(() => new Connection(port, "worker.js"), "http://host/m", {});
  return { model, port, engine };
}
