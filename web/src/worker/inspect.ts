// Looks into the model: few pages do, so it is a chunk of its own.
import { Gpt2Error } from "../shared/errors.js";
import type { InspectRequest } from "../shared/protocol.js";
import { readCount } from "../shared/refuse.js";
import type { Inspection, ModelConfig, TokenLogprob } from "../shared/types.js";
import type { Engine } from "./engine.js";
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

export async function inspect(
  engine: Engine,
  { nLayer, nHead, nPositions }: ModelConfig,
  { prompt, ...wanted }: InspectRequest,
  signal: AbortSignal,
): Promise<Inspection> {
  const ids = typeof prompt === "string" ? engine.tokenize(prompt, {}) : prompt;
  if (ids.length === 0) throw new Gpt2Error("invalid-argument", "the text is empty");
  const position = readCount("position", wanted.position, 0, ids.length - 1) ?? ids.length - 1;
  const layer = readCount("layer", wanted.layer, 0, nLayer - 1) ?? nLayer - 1;
  const top = readCount("top", wanted.top, 0, mostTop) ?? usualTop;
  const head = readCount("head", wanted.head, 0, nHead - 1);
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
  const attention = softmax(
    head === undefined ? scores : scores.slice(head * count, (head + 1) * count),
    count,
  );
  const guesses = Array.from({ length: nLayer + 1 }, (): TokenLogprob[] => []);
  for (const { index, ...guess } of tokens) guesses[index]?.push(guess);
  return {
    ids: [...ids.slice(0, count)],
    layer,
    guesses,
    heads: head === undefined ? nHead : 1,
    attention,
  };
}
