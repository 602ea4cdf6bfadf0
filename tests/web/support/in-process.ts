import { Connection, type WorkerPort } from "../../../web/src/client/connection.js";
import { loadThrough } from "../../../web/src/client/load-model.js";
import type { Model } from "../../../web/src/client/model.js";
import type { FromWorker, ToWorker } from "../../../web/src/shared/protocol.js";
import { Server, type Load } from "../../../web/src/worker/server.js";
import { FakeEngine, loadsAtOnce } from "./fake-engine.js";

// Globals of a page that Node.js lacks.
Object.assign(globalThis, { location: { href: "http://host/page/index.html" } });

/** The worker's side in the same process: messages are copied and arrive later, as between threads. */
export class ServerPort implements WorkerPort {
  isTerminated = false;
  readonly sent: ToWorker[] = [];
  readonly said: FromWorker[] = [];
  onmessage: WorkerPort["onmessage"] = null;
  onerror: WorkerPort["onerror"] = null;
  onmessageerror: WorkerPort["onmessageerror"] = null;
  readonly server: Server;

  constructor(load: Load) {
    this.server = new Server(load, (message) => {
      const copy = structuredClone(message);
      this.said.push(copy);
      setImmediate(() => {
        if (!this.isTerminated) this.onmessage?.({ data: copy } as MessageEvent<FromWorker>);
      });
    });
  }

  postMessage(message: ToWorker, transfer: Transferable[] = []): void {
    const copy = structuredClone(message, { transfer });
    this.sent.push(copy);
    setImmediate(() => {
      if (!this.isTerminated) this.server.receive(copy);
    });
  }

  terminate(): void {
    this.isTerminated = true;
  }
}

export async function loadFake(
  engine = new FakeEngine(),
): Promise<{ model: Model; port: ServerPort; engine: FakeEngine }> {
  const port = new ServerPort(loadsAtOnce(engine));
  const model = await loadThrough(() => new Connection(port, "worker.js"), "http://host/m", {});
  return { model, port, engine };
}

/** Some turns of the event loop. */
export const pause = (ms = 30) => new Promise((resolve) => setTimeout(resolve, ms));
