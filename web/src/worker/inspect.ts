// Looks into the model: few pages do, so it is a chunk of its own.
import { Gpt2Error } from "../shared/errors.js";
import type { InspectRequest } from "../shared/protocol.js";
import type { Inspection, ModelConfig, TokenLogprob } from "../shared/types.js";
import type { Engine } from "./engine.js";
import { yieldToMessages } from "./yield-to-messages.js";

/** `value`, or `usual` where nothing is said. */
function wholeNumber(name: string, value: unknown, usual: number, most: number): number {
  if (value === undefined) return usual;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most) return value;
  const shown = typeof value === "number" ? String(value) : `a ${typeof value}`;
  throw new Gpt2Error("invalid-argument", `${name} is ${shown}, expected a whole number from 0 to ${most}`);
}

/** The softmax of each row of `scores` [rows, size], in place. */
function softmax(scores: Float32Array, size: number): Float32Array {
  for (let at = 0; at < scores.length; at += size) {
    const row = scores.subarray(at, at + size);
    const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const weights = Array.from(row, (score) => Math.exp(score - most));
    const sum = weights.reduce((a, b) => a + b, 0);
    row.set(weights.map((weight) => weight / sum));
  }
  return scores;
}

const usualTop = 5;
const mostTop = 100;

export async function inspect(
  engine: Engine,
  { nLayer, nHead, nPositions }: ModelConfig,
  { prompt, ...wanted }: InspectRequest,
  signal: AbortSignal,
): Promise<Inspection> {
  const ids = typeof prompt === "string" ? engine.tokenize(prompt, {}) : prompt;
  if (ids.length === 0) throw new Gpt2Error("invalid-argument", "the text is empty");
  const position = wholeNumber("position", wanted.position, ids.length - 1, ids.length - 1);
  const layer = wholeNumber("layer", wanted.layer, nLayer - 1, nLayer - 1);
  const top = wholeNumber("top", wanted.top, usualTop, mostTop);
  const head = wholeNumber("head", wanted.head, -1, nHead - 1);
  const count = position + 1;
  if (count > nPositions) {
    throw new Gpt2Error(
      "capacity",
      `sequence longer than model capacity: position ${position} of the text, the context holds ${nPositions} tokens`,
    );
  }
  engine.start("_gpt2_generate", ids.slice(0, count), { maxNewTokens: 0, n: 1, strict: false });
  for (let step = engine.output(); step.done < count - 1; step = engine.step("_gpt2_prefill_step")) {
    await yieldToMessages();
    signal.throwIfAborted();
  }
  const { tokens, scores } = engine.inspect(layer, top, nHead * count);
  const attention = softmax(head < 0 ? scores : scores.slice(head * count, (head + 1) * count), count);
  const guesses = Array.from({ length: nLayer + 1 }, (): TokenLogprob[] => []);
  for (const { index, ...guess } of tokens) guesses[index]?.push(guess);
  return {
    ids: [...ids.slice(0, count)],
    layer,
    guesses,
    heads: head < 0 ? nHead : 1,
    attention,
  };
}
