// Inspects the model. It is loaded separately, because few pages use it.
import { Gpt2Error } from "../shared/errors.js";
import type { InspectRequest } from "../shared/protocol.js";
import { readCount } from "../shared/refuse.js";
import type { Captured, Inspection, ModelConfig, PromptProgress, TokenLogprob } from "../shared/types.js";
import { plainLayers, readChanges, type EngineChange } from "./changes.js";
import type { Engine, Output } from "./engine.js";
import { yieldToMessages } from "./yield-to-messages.js";

/** The softmax of each row of `scores` [rows, size], in place. */
function softmax(scores: Float32Array, size: number): Float32Array {
  for (let at = 0; at < scores.length; at += size) {
    const row = scores.subarray(at, at + size);
    const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
    let sum = 0;
    for (const [i, score] of row.entries()) sum += row[i] = Math.exp(score - most);
    for (const [i, weight] of row.entries()) row[i] = weight / sum;
  }
  return scores;
}

const usualTop = 5;
const mostTop = 100;

/**
 * From this length on, a generation reads the tokens: its batches are larger than a prefill's, which lets other requests
 * run.
 */
const longText = 64;

/** Options of gpt2_generate. */
interface Hooks {
  change?: unknown;
  capture?: unknown;
  positions?: unknown;
}

/** Computes all of `ids` except the last, unless they are cached. */
async function readAll(
  engine: Engine,
  ids: readonly number[],
  hooks: Hooks,
  signal: AbortSignal,
  tell: (progress: PromptProgress) => void,
): Promise<void> {
  const ahead = ids.length - 1;
  const go = async (
    first: Output,
    isRead: (step: Output) => boolean,
    call: "_gpt2_step" | "_gpt2_prefill_step",
  ) => {
    for (let step = first; !isRead(step); step = engine.step(call)) {
      tell({ done: step.done, total: ids.length });
      await yieldToMessages();
      signal.throwIfAborted();
    }
  };
  const begin = () => {
    engine.start("_gpt2_generate", ids, { maxNewTokens: 0, n: 1, strict: false, ...hooks });
    return engine.output();
  };
  let step = begin();
  if (ahead - step.done >= longText && hooks.capture === undefined) {
    // Its token is not used.
    engine.start("_gpt2_generate", ids.slice(0, ahead), {
      maxNewTokens: 1,
      temperature: 0,
      n: 1,
      strict: false,
      ...hooks,
    });
    await go(engine.output(), ({ isDone }) => isDone, "_gpt2_step");
    step = begin();
  }
  await go(step, ({ done }) => done >= ahead, "_gpt2_prefill_step");
}

/** What a text has at the places `capture`, in a pass without changes. */
async function captureAll(
  engine: Engine,
  { nLayer, nHead }: ModelConfig,
  ids: readonly number[],
  capture: readonly string[],
  signal: AbortSignal,
): Promise<Record<string, Captured>> {
  await readAll(engine, ids, { capture }, signal, () => {});
  engine.inspect(0, nLayer * nHead * ids.length);
  return engine.captured();
}

const idsOf = (engine: Engine, prompt: string | readonly number[]) =>
  typeof prompt === "string" ? engine.tokenize(prompt, { isPrompt: true }) : prompt;

/** The changes of a generation or a scoring of `prompt`, in the engine's form. */
export async function changesOf(
  engine: Engine,
  config: ModelConfig,
  prompt: string | readonly number[],
  change: unknown,
  signal: AbortSignal,
): Promise<readonly EngineChange[]> {
  return readChanges(change, (names) =>
    captureAll(engine, config, idsOf(engine, prompt).slice(-config.nPositions), names, signal),
  );
}

export async function inspect(
  engine: Engine,
  config: ModelConfig,
  { prompt, ...wanted }: InspectRequest,
  signal: AbortSignal,
  tell: (progress: PromptProgress) => void,
): Promise<Inspection> {
  const { nLayer, nHead, nPositions } = config;
  const ids = idsOf(engine, prompt);
  if (ids.length === 0) throw new Gpt2Error("invalid-argument", "the text is empty");
  const position = readCount("position", wanted.position, 0, ids.length - 1) ?? ids.length - 1;
  const layer = readCount("layer", wanted.layer, 0, nLayer - 1) ?? nLayer - 1;
  const top = readCount("top", wanted.top, 0, mostTop) ?? usualTop;
  const head = readCount("head", wanted.head, 0, nHead - 1);
  const count = position + 1;
  if (count > nPositions) {
    throw new Gpt2Error(
      "capacity",
      `the position is outside the context: token ${position} of the text, but the context holds ${nPositions} tokens`,
    );
  }
  const prefix = ids.slice(0, count);
  const change =
    wanted.change === undefined ? undefined : await changesOf(engine, config, prefix, wanted.change, signal);
  const { capture, positions } = wanted;
  await readAll(engine, prefix, { change, capture, positions }, signal, tell);
  const { tokens, scores } = engine.inspect(top, nLayer * nHead * count);
  const weights = softmax(scores, count);
  const [first, heads] = head === undefined ? [0, nHead] : [head, 1];
  const layers = Array.from({ length: nLayer }, (_, each) => {
    const begin = (each * nHead + first) * count;
    return weights.slice(begin, begin + heads * count);
  });
  const guesses = Array.from({ length: nLayer + 1 }, (): TokenLogprob[] => []);
  for (const { index, rank: _, ...guess } of tokens) guesses[index]?.push(guess);
  return {
    ids: [...prefix],
    layer,
    guesses,
    heads,
    layers,
    attention: layers[layer] ?? new Float32Array(),
    captured: capture === undefined ? {} : engine.captured(),
    plainAttention: change ? plainLayers(change, nLayer) : [],
  };
}
