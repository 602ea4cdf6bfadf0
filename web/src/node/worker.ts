// gpt2-node-worker.js: gives a thread of Node.js the parts of a browser's worker that the engine needs, and runs
// gpt2-worker.js in it. In the threads that the engine starts, it runs the engine's own script.
import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { fetchFileToo } from "./fetch-file.js";
import { ThreadAsWorker } from "./thread-as-worker.js";

interface Started {
  script: string;
  name: string;
}

const { script, name } = (workerData ?? {
  script: new URL("./gpt2-worker.js", import.meta.url).href,
  name: "gpt2",
}) as Started;

async function runWorker(port: MessagePort): Promise<void> {
  // Node.js 20 has none.
  (globalThis as Partial<typeof globalThis>).navigator ??= {
    hardwareConcurrency: availableParallelism(),
  } as Navigator;

  setMaxListeners(0); // all files of a load listen to one signal: with more than ten, Node.js would warn of a leak

  let onMessage: ((event: { data: unknown }) => void) | null = null;

  const ofWorkers = {
    self: globalThis,
    name,
    origin: "null", // of a file
    location: new URL(script),
    isSecureContext: true,
    crossOriginIsolated: true, // Node.js shares memory without isolation
    fetch: fetchFileToo(globalThis.fetch),
    postMessage: (message: unknown, transfer: never[] = []) => port.postMessage(message, transfer),
    close: () => process.exit(),
    Worker: ThreadAsWorker,
  };
  // In Deno some exist already and cannot be assigned.
  for (const [name, value] of Object.entries(ofWorkers)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  Object.defineProperty(globalThis, "onmessage", {
    configurable: true,
    get: () => onMessage,
    set(handler: typeof onMessage) {
      // Messages wait until there is a listener.
      if (!onMessage) port.on("message", (data) => onMessage?.({ data }));
      onMessage = handler;
    },
  });
  await import(script);
}

// Imported by a program, rather than started as a thread, this module does nothing.
if (parentPort) await runWorker(parentPort);
