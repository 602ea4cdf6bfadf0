// How fast the model writes on this device, beside how fast the device's memory would let it.
import type { Model, ModelInfo } from "../../src/client/index.js";
import { Readers } from "./readers.js";

export interface Speed {
  tokensPerSecond: number;
  /** With which the threads read the weights once, and do nothing else. */
  floorTokensPerSecond: number;
  /** Of what memory allows; the median of pairs that were measured in turn, as other work on the device disturbs both. */
  share: number;
}

/** Bytes of weights that one token takes: all but those tables of which it takes a row. */
export function bytesPerToken({
  weightBytes,
  parameters,
  config,
}: Pick<ModelInfo, "weightBytes" | "parameters" | "config">): number {
  const { nPositions, nEmbd, vocabSize, tieWordEmbeddings } = config;
  const positions = 4 * nPositions * nEmbd;
  // The embedding, where it is not the head as well, is in the format of nearly all weights.
  const embedding = tieWordEmbeddings ? 0 : (vocabSize * nEmbd * weightBytes) / parameters;
  return weightBytes - positions - embedding;
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

const pairs = 5;
/** A text is measured for about so long; a slow model writes a few tokens all the same. */
const textSeconds = 0.25;
const fewestTokens = 6;

async function decode(model: Model, maxNewTokens: number, signal: AbortSignal): Promise<number> {
  const { timings } = await model.complete([0, 1, 2, 3], {
    maxNewTokens,
    signal,
    ignoreEos: true,
    lookup: false, // it gives several tokens for the bytes of one
    seed: 1,
  });
  return timings.decodedTokensPerSecond;
}

/** Takes a few seconds, in which the model does nothing else. Rejects with the signal's reason once that aborts. */
export async function measureSpeed(model: Model, signal: AbortSignal): Promise<Speed> {
  const { info } = model;
  const bytes = bytesPerToken(info);
  const readers = await Readers.open(info.threads, bytes);
  try {
    const first = await decode(model, fewestTokens, signal);
    const most = Math.max(fewestTokens, Math.min(128, info.config.nPositions - 4));
    const tokens = Math.min(most, Math.max(fewestTokens, Math.round(first * textSeconds)));
    const measured: { written: number; floor: number }[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      const written = await decode(model, tokens, signal);
      signal.throwIfAborted();
      const floor = (await readers.read()) / bytes;
      signal.throwIfAborted();
      measured.push({ written, floor });
    }
    return {
      tokensPerSecond: median(measured.map(({ written }) => written)),
      floorTokensPerSecond: median(measured.map(({ floor }) => floor)),
      share: median(measured.map(({ written, floor }) => written / floor)),
    };
  } finally {
    readers.close();
  }
}
