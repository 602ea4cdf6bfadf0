// The worker: owns the engine, answers one request at a time, and looks for messages between tokens.
import { errorToWire, Gpt2Error } from "../shared/errors.js";
import {
  cancelledCode,
  type FromWorker,
  type LoadRequest,
  type LoadResult,
  type RequestName,
  type Requests,
  type ToWorker,
} from "../shared/protocol.js";
import type { LoadProgress } from "../shared/types.js";
import type { Engine } from "./engine.js";
import { generate } from "./generate.js";
import { loadEngine } from "./load.js";
import { score } from "./score.js";

declare const self: DedicatedWorkerGlobalScope;

let engine: Engine | undefined;
let turn: Promise<void> = Promise.resolve();
const controllers = new Map<number, AbortController>();

function post(message: FromWorker): void {
  self.postMessage(message);
}

function needEngine(): Engine {
  if (!engine) throw new Gpt2Error("invalid-argument", "no model is loaded");
  return engine;
}

async function loadModel(
  request: LoadRequest,
  signal: AbortSignal,
  tell: (event: LoadProgress) => void,
): Promise<LoadResult> {
  // One model a worker: the page ends the worker to free it.
  if (engine) throw new Gpt2Error("invalid-argument", "this worker has a model already");
  const loaded = await loadEngine(request, signal, tell);
  engine = loaded.engine;
  return { info: loaded.info, threadChoice: loaded.threadChoice };
}

async function answer(
  message: Extract<ToWorker, { type: "request" }>,
  signal: AbortSignal,
): Promise<Requests[RequestName]["result"]> {
  const tell = (event: Requests[RequestName]["event"]) => post({ type: "event", id: message.id, event });
  switch (message.name) {
    case "load":
      return loadModel(message.args, signal, tell);
    case "generate":
      return generate(needEngine(), message.args, signal, tell);
    case "score":
      return score(needEngine(), message.args, signal, tell);
    case "tokenize":
      return needEngine().request("_gpt2_tokenize", message.args) as number[];
    case "detokenize":
      return needEngine().request("_gpt2_detokenize", message.args) as string;
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
