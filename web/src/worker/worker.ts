// The worker: owns the engine, answers one request at a time, and looks for messages between tokens.
import { errorToWire, Gpt2Error } from "../shared/errors.js";
import {
  cancelledCode,
  type FromWorker,
  type RequestName,
  type Requests,
  type ToWorker,
} from "../shared/protocol.js";
import { generate } from "./generate.js";
import { loadEngine, type LoadedEngine } from "./load.js";
import { score } from "./score.js";

declare const self: DedicatedWorkerGlobalScope;

let loaded: LoadedEngine | undefined;
let turn: Promise<void> = Promise.resolve();
const controllers = new Map<number, AbortController>();

function post(message: FromWorker): void {
  self.postMessage(message);
}

function needEngine(): LoadedEngine {
  if (!loaded) throw new Gpt2Error("invalid-argument", "no model is loaded");
  return loaded;
}

async function answer(
  message: Extract<ToWorker, { type: "request" }>,
  signal: AbortSignal,
): Promise<Requests[RequestName]["result"]> {
  const tell = (event: Requests[RequestName]["event"]) => post({ type: "event", id: message.id, event });
  switch (message.name) {
    case "load":
      // One model a worker: the page ends the worker to free it.
      if (loaded) throw new Gpt2Error("invalid-argument", "this worker has a model already");
      loaded = await loadEngine(message.args, signal, tell);
      return loaded.info;
    case "generate":
      return generate(needEngine().engine, message.args, signal, tell);
    case "score":
      return score(needEngine().engine, message.args, signal, tell);
    case "tokenize":
      return needEngine().engine.request("_gpt2_tokenize", message.args) as number[];
    case "detokenize":
      return needEngine().engine.request("_gpt2_detokenize", message.args) as string;
  }
}

async function run(message: Extract<ToWorker, { type: "request" }>, signal: AbortSignal): Promise<void> {
  try {
    signal.throwIfAborted(); // cancelled while it waited for its turn
    const result = await answer(message, signal);
    post({ type: "done", id: message.id, result });
  } catch (error) {
    const wire = signal.aborted ? { code: cancelledCode, message: "cancelled" } : errorToWire(error);
    post({ type: "failed", id: message.id, error: wire });
  } finally {
    controllers.delete(message.id);
  }
}

self.onmessage = ({ data: message }: MessageEvent<ToWorker>) => {
  switch (message.type) {
    case "cancel":
      controllers.get(message.id)?.abort();
      return;
    case "request": {
      const controller = new AbortController();
      controllers.set(message.id, controller);
      turn = turn.then(() => run(message, controller.signal));
    }
  }
};
