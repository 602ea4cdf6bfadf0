// Runs in the page: performs the actions of a plan with the public module, and keeps the answers.
// @ts-expect-error -- it lies there where this is served
import { loadModel } from "../gpt2.js";
import { models } from "./calls.mjs";
import { within } from "./within.mjs";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Promises of the models in use, by name. */
const held = new Map();
const disposed = new WeakSet();

function hold(name, load) {
  const model = held.get(name) ?? loadModel(models[name].folder, load);
  held.set(name, model);
  return model;
}

async function disposeOf(name) {
  const loading = held.get(name);
  if (!loading) return;
  held.delete(name); // the next user loads another
  const model = await loading;
  disposed.add(model);
  await model.dispose();
}

/** The answer to a generation: what the cold engine gives as well, so no times and no reused tokens. */
function answerOf(tokens, { finishReasons, droppedTokens }) {
  const continuations = finishReasons.map((finishReason, index) => ({
    finishReason,
    tokens: tokens.filter((token) => token.index === index),
  }));
  return { continuations, droppedTokens };
}

/** Reads the loop `call`; `pause` is called after `after` tokens. */
async function readLoop(model, call, signal, after = Infinity, pause = async () => {}) {
  const tokens = [];
  /** @type {{ finishReasons: unknown[], droppedTokens: number }} */
  let summary = { finishReasons: [], droppedTokens: 0 };
  const onSummary = (given) => (summary = given);
  for await (const token of model.generate(call.prompt, { ...call.options, signal, onSummary })) {
    tokens.push(token);
    if (tokens.length === after) await pause();
  }
  return answerOf(tokens, summary);
}

async function ask(model, call, signal) {
  switch (call.verb) {
    case "generate": {
      if (call.options.seed % 2 === 0) return readLoop(model, call, signal);
      const completion = await model.complete(call.prompt, { ...call.options, signal });
      return answerOf(
        completion.continuations.flatMap(({ tokens }) => tokens),
        completion,
      );
    }
    case "score":
      return model.score(call.prompt, { signal });
    case "tokenize":
      return model.tokenize(call.text, { signal });
    case "detokenize":
      return model.detokenize(call.ids, { signal });
  }
}

/** The result of `work`; undefined if it fails as expected: for `reason`, or because its model was disposed of. */
async function unlessEnded(model, work, reason) {
  try {
    return await work;
  } catch (error) {
    if ((reason && error === reason) || (disposed.has(model) && error.code === "disposed")) return undefined;
    throw error;
  }
}

/** Sends a request, and aborts it after `ms` if that is a number. */
async function askFor(model, call, ms, keep) {
  const controller = new AbortController();
  const reason = new Error("given up");
  if (ms !== undefined) setTimeout(() => controller.abort(reason), ms);
  const answer = await unlessEnded(model, ask(model, call, controller.signal), reason);
  if (answer !== undefined) keep({ call, answer });
}

const actions = {
  finish: async ({ call, load }, keep) => askFor(await hold(call.model, load), call, undefined, keep),
  abort: async ({ call, load, ms }, keep) => askFor(await hold(call.model, load), call, ms, keep),
  async leave({ call, load, tokens }, keep) {
    const model = await hold(call.model, load);
    const beginning = [];
    const read = async () => {
      for await (const token of model.generate(call.prompt, call.options)) {
        beginning.push(token);
        if (beginning.length === tokens) break;
      }
    };
    await unlessEnded(model, read());
    keep({ call, beginning });
  },
  async stall({ call, load, tokens, ms }, keep) {
    const model = await hold(call.model, load);
    const pause = () => sleep(ms);
    const answer = await unlessEnded(model, readLoop(model, call, undefined, tokens, pause));
    if (answer) keep({ call, answer });
  },
  /** Starts a loop, and then neither continues nor ends it. */
  async forget({ call, load, tokens }) {
    const model = await hold(call.model, load);
    const loop = model.generate(call.prompt, call.options);
    const read = async () => {
      for (let i = 0; i < tokens; ++i) await loop.next();
    };
    await unlessEnded(model, read());
  },
  async many({ call, load, requests }, keep) {
    const model = await hold(call.model, load);
    await Promise.all(requests.map((request) => askFor(model, request.call, request.ms, keep)));
  },
  /** Aborts a load while other models are in use. */
  async abortLoad({ call, load, ms }) {
    const controller = new AbortController();
    const reason = new Error("given up");
    setTimeout(() => controller.abort(reason), ms);
    try {
      const model = await loadModel(models[call.model].folder, { ...load, signal: controller.signal });
      await model.dispose();
    } catch (error) {
      if (error !== reason) throw error;
    }
  },
  dispose: ({ call }) => disposeOf(call.model),
  /** Drops the model without disposing of it. */
  async drop({ call }) {
    await held.get(call.model);
    held.delete(call.model);
  },
};

/** Plays one round. Returns the answers, the number of each action, and the errors. */
export async function play(users, hangMs) {
  const kept = [];
  const done = {};
  const problems = [];
  const playUser = async (list) => {
    for (const action of list) {
      try {
        await within(
          hangMs,
          actions[action.does](action, (answer) => kept.push(answer)),
        );
        done[action.does] = (done[action.does] ?? 0) + 1;
      } catch (error) {
        const { verb, model, options } = action.call;
        problems.push(
          `${action.does} (${model} ${verb} ${JSON.stringify(options ?? {})}): ${error.name} ${error.code ?? ""}: ${error.message}`,
        );
      }
    }
  };
  await Promise.all(users.map(playUser));
  return { kept, done, problems };
}

/** Disposes of all models in use, and runs the garbage collection. */
export async function rest() {
  await Promise.all(Object.keys(models).map(disposeOf));
  globalThis.gc?.();
}

/** The answer of a model that was loaded for this call alone, on one thread. */
export async function askCold(call) {
  const model = await loadModel(models[call.model].folder, { variant: "simd" });
  try {
    return await ask(model, call);
  } finally {
    await model.dispose();
  }
}
